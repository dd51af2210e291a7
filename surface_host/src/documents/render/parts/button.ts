/** A button that runs an action of the document, and what became of its last press. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder, Scene } from '../scene.js';

export interface ActionButton {
  readonly button: HTMLButtonElement;
  /** What is said about it, beside it. */
  readonly news: HTMLElement;
  sync(action: string, label: string, isDisabled?: boolean): void;
}

/** The button of node `from`. It stays focusable while it cannot be pressed, so that nobody loses their place. */
export function createActionButton(scene: Scene, from: string, type: 'button' | 'submit'): ActionButton {
  const button = el('button', { type, class: 'button', dir: 'auto' });
  const said = el('span');
  const again = el('button', { type: 'button', class: 'again' }, scene.say('again'));
  const news = el('div', { class: 'news', role: 'status' }, said, again);
  let action = '';
  button.addEventListener('click', (event) => {
    if (button.getAttribute('aria-disabled') !== 'true') scene.press(action, event, from, type === 'submit');
  });
  again.addEventListener('click', (event) => scene.again(action, event));
  return {
    button,
    news,
    sync(id, label, isDisabled = false) {
      action = id;
      const state = scene.action(id);
      setText(button, label);
      setAttribute(button, 'aria-disabled', isDisabled || state !== 'ready' ? 'true' : undefined);
      setAttribute(button, 'aria-busy', state === 'sending' ? 'true' : undefined);
      setText(said, state === 'sending' ? scene.say('sending') : state === 'unsent' ? scene.say('unsent') : '');
      again.hidden = state !== 'unsent';
    },
  };
}

export const button: Builder<PropsByType['Button']> = (scene, id) => {
  const { button: control, news, sync } = createActionButton(scene, id, 'button');
  return {
    element: el('div', { class: 'act' }, control, news),
    update({ action, label, variant, disabled }) {
      setAttribute(control, 'data-variant', variant ?? 'secondary');
      sync(action, label, disabled !== undefined && scene.flag(disabled));
    },
  };
};

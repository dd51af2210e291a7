/** Controls that are sent together, by one button or by Enter. */

import { el } from '../../../ui/dom.js';
import { setChildren } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';
import { createActionButton } from './button.js';

export const form: Builder<PropsByType['Form']> = (scene, id) => {
  const { button, news, sync } = createActionButton(scene, id, 'submit');
  button.dataset['variant'] = 'primary';
  const body = el('div', { class: 'stack' });
  const element = el('form', { class: 'form', novalidate: true, autocomplete: 'off' }, body, el('div', { class: 'act' }, button, news));
  // A browser trusts the submit event of a script's `requestSubmit()`; the click that Enter makes on the button it does not fake.
  element.addEventListener('submit', (event) => event.preventDefault());
  return {
    element,
    update: ({ submit, submitLabel }) => sync(submit, submitLabel),
    place: (children) => setChildren(body, children),
  };
};

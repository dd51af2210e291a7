/**
 * The click a browser wants before it opens, copies or saves anything.
 *
 * Mostly it is the one that approved the call. Where that one is too long ago, the person is asked for one more, and what
 * they approved begins on it.
 */

import { button, createShell, el } from '../ui/dom.js';
import type { SayOf } from '../ui/words.js';
import packCss from './pack.css?inline';
import type { PackMessages } from './messages.js';

export interface ClickOptions {
  readonly say: SayOf<PackMessages>;
  readonly mode: ShadowRootMode;
}

/** A refusal of the person, or the end of the call's time. */
export const stopped = (): DOMException => new DOMException('the person did not go on', 'AbortError');

export type OnClick = <T>(label: keyof PackMessages, signal: AbortSignal, task: () => T | Promise<T>) => Promise<T>;

export function createOnClick({ say, mode }: ClickOptions): OnClick {
  return async (label, signal, task) => {
    signal.throwIfAborted();
    if (navigator.userActivation?.isActive) return task();
    return new Promise((resolve, reject) => {
      const { element, root } = createShell(mode, packCss);
      element.lang = say('lang');
      const before = document.activeElement;
      const life = new AbortController();
      const end = (): void => {
        life.abort();
        element.remove();
        if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      };
      const no = button(say('stop'), 'no', () => {
        end();
        reject(stopped());
      });
      const yes = button(say(label), 'yes', () => {
        // Begun inside the click: what follows it is too late for some browsers.
        const begun = new Promise<Awaited<ReturnType<typeof task>>>((done) => done(task() as never));
        end();
        begun.then(resolve as never, reject);
      });
      const card = el(
        'section',
        { class: 'card', role: 'alertdialog', 'aria-modal': 'false', 'aria-labelledby': 'what', 'aria-describedby': 'why' },
        el('h2', { id: 'what' }, say('oneMore')),
        el('p', { id: 'why' }, say('approvedBefore')),
        el('div', { class: 'buttons' }, no, yes),
      );
      root.append(card);
      signal.addEventListener(
        'abort',
        () => {
          end();
          reject(stopped());
        },
        { signal: life.signal },
      );
      document.documentElement.append(element);
      yes.focus({ preventScroll: true });
    });
  };
}

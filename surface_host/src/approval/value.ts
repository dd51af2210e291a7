/** One argument as a person can read it: its own block, nothing hidden, long texts shortened with a way to all of it. */

import { cut, wellFormed } from '../core/index.js';
import type { ApprovalArgument } from '../protocol/frames.js';
import { button, el, foreign, type Child } from '../ui/dom.js';
import type { Say } from '../ui/words.js';

const SHORT = 600;
const TAIL = 120;
const ONE_LINE = 64;

/** A box of its own that can be scrolled by keyboard too. */
export const block = (kind: string, label: string, ...children: Child[]): HTMLElement =>
  el('div', { class: `value ${kind}`, tabindex: '0', role: 'group', 'aria-label': label }, ...children);

/** `digest` is shown for long values: two texts that differ only at the far end read alike but not there. */
export function argumentBlock({ name, value }: ApprovalArgument, say: Say, digest: (text: string) => Promise<string>): HTMLElement {
  const parsed = JSON.parse(value) as unknown;
  const isText = typeof parsed === 'string';
  const whole = isText ? parsed : value.length < ONE_LINE ? value : JSON.stringify(parsed, null, 2);
  const show = (text: string): HTMLElement => foreign(text, isText ? { lines: true } : { layout: true });
  const kind = el('span', {}, isText && say('textOf', [...parsed].length));
  const head = el('div', { class: 'row' }, el('code', {}, foreign(name)), kind);
  const box = block('', name);

  if (!whole) box.append(el('span', { class: 'mark' }, say('empty')));
  else if (whole.length <= SHORT + TAIL) box.append(show(whole));
  else {
    void digest(value).then((hex) => kind.append(` · sha256 ${hex.slice(0, 12)}`));
    box.append(show(cut(whole, SHORT)), '\n⋯\n', show(wellFormed(whole.slice(-TAIL))));
    const more = button(say('showAll'), 'end', () => {
      box.replaceChildren(show(whole));
      more.remove();
      box.focus();
    });
    head.append(more);
  }
  return el('div', { class: 'argument' }, head, box);
}

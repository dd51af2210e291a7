/** One argument as a person can read it: its own block, nothing hidden, long texts shortened with a way to all of it. */

import { cut } from '../core/index.js';
import type { ApprovalArgument } from '../protocol/frames.js';
import { button, el, foreign } from '../ui/dom.js';
import type { MessageKey, Words } from '../ui/messages.js';

const SHORT = 600;
const TAIL = 120;

function kindOf(value: unknown): MessageKey {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'list';
  const kind = typeof value;
  return kind === 'string' ? 'text' : kind === 'number' || kind === 'boolean' ? kind : 'object';
}

/** `digest` is shown for long values: two texts that differ only at the far end read alike but not there. */
export function argumentBlock(argument: ApprovalArgument, words: Words, digest: (text: string) => Promise<string>): HTMLElement {
  const value = JSON.parse(argument.value) as unknown;
  const isText = typeof value === 'string';
  const whole = isText ? value : typeof value === 'object' ? JSON.stringify(value, null, 2) : argument.value;
  const show = (text: string): HTMLElement => foreign(text, isText ? { lines: true } : { layout: true });

  const kind = el('span', { class: 'kind' }, words.say(kindOf(value)));
  const block = el('div', { class: 'value', tabindex: '0', role: 'group', 'aria-label': argument.name });
  const head = el('div', { class: 'name' }, el('code', {}, foreign(argument.name)), kind);

  if (isText) kind.append(' · ', words.say('characters', [...value].length.toLocaleString(words.lang)));
  if (whole === '') block.append(el('span', { class: 'dim' }, words.say('empty')));
  else if (whole.length <= SHORT + TAIL) block.append(show(whole));
  else {
    void digest(argument.value).then((hex) => kind.append(` · sha256 ${hex.slice(0, 12)}`));
    let open = false;
    const draw = (): void => {
      const tail = whole.slice(-TAIL).replace(/^[\udc00-\udfff]/, '');
      block.replaceChildren(...(open ? [show(whole)] : [show(cut(whole, SHORT)), el('div', { class: 'dim' }, '⋯'), show(tail)]));
      more.textContent = words.say(open ? 'showLess' : 'showAll');
      more.setAttribute('aria-expanded', String(open));
    };
    const more = button('', 'more', () => {
      open = !open;
      draw();
    });
    head.append(more);
    draw();
  }
  return el('div', { class: 'argument' }, head, block);
}

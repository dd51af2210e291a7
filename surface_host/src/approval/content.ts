/**
 * The inside of the dialog for one prompt.
 * It is made from the parsed payload and our own words; no other source reaches it.
 */

import type { Prompt } from '../core/index.js';
import { el, foreign } from '../ui/dom.js';
import type { MessageKey, Words } from '../ui/messages.js';
import { argumentBlock } from './value.js';

const VERBS = { read: 'verbRead', change: 'verbChange', delete: 'verbDelete' } as const satisfies Record<string, MessageKey>;

export interface Content {
  readonly heading: HTMLElement;
  readonly main: HTMLElement;
}

export function contentOf(prompt: Prompt, words: Words, digest: (text: string) => Promise<string>): Content {
  const { summary, capability } = prompt.payload;
  const say = words.say;
  const notice = (key: MessageKey, danger = false): HTMLElement => el('p', { class: danger ? 'notice danger' : 'notice' }, say(key));

  const heading = el(
    'div',
    { id: 'heading' },
    el('h2', {}, say(VERBS[summary.verb])),
    el('div', { class: 'object' }, foreign(summary.object)),
  );

  const facts = el('dl', { id: 'facts' });
  for (const [key, value] of [
    ['agent', summary.agent],
    ['site', summary.origin],
    ['action', capability],
  ] as const) {
    facts.append(el('dt', {}, say(key)), el('dd', {}, foreign(value)));
  }

  const list = summary.arguments;
  const main = el(
    'main',
    {},
    facts,
    summary.effect === 'destructive' && notice('destructive', true),
    summary.risk !== 'display_only' && summary.risk !== 'user_confirmation' && notice('risky', true),
    summary.changed && notice('changed'),
    el(
      'section',
      { class: 'arguments' },
      el('h3', {}, say(list.length ? 'arguments' : 'noArguments')),
      ...list.map((argument) => argumentBlock(argument, words, digest)),
    ),
    summary.description &&
      el('section', {}, el('h3', {}, say('pageSays')), el('div', { class: 'quote', tabindex: '0', role: 'group', 'aria-label': say('pageSays') }, foreign(summary.description, { lines: true }))),
  );
  return { heading, main };
}

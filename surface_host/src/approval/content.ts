/**
 * The inside of the dialog for one prompt.
 * It is made from the parsed payload and our own words; no other source reaches it.
 */

import type { Prompt } from '../core/index.js';
import { el, foreign } from '../ui/dom.js';
import type { Messages } from '../ui/messages.js';
import type { Say } from '../ui/words.js';
import { argumentBlock, block } from './value.js';

const VERBS = {
  agent: { read: 'verbRead', change: 'verbChange', delete: 'verbDelete' },
  app: { read: 'appReads', change: 'appChanges', delete: 'appDeletes' },
} as const satisfies Record<string, Record<string, keyof Messages>>;

export interface Content {
  readonly heading: HTMLElement;
  readonly main: HTMLElement;
}

export function contentOf(prompt: Prompt, say: Say, digest: (text: string) => Promise<string>): Content {
  const { summary, capability } = prompt.payload;
  const notice = (key: keyof Messages, danger = false): HTMLElement => el('p', { class: danger ? 'notice danger' : 'notice' }, say(key));

  const by = summary.app === undefined ? 'agent' : 'app';
  const heading = el(
    'div',
    { id: 'heading' },
    el('h2', {}, say(VERBS[by][summary.verb])),
    el('div', { class: 'object' }, foreign(summary.object)),
  );

  const facts = el('dl', { id: 'facts' });
  for (const [key, value] of [
    [by, summary.app ?? summary.agent],
    ['site', summary.origin],
    ['action', capability],
  ] as const) {
    facts.append(el('dt', {}, say(key)), el('dd', {}, foreign(value)));
  }

  // Words of others, told as such and last: nothing of them can stand for one of ours.
  const said = (by: 'pageSays' | 'agentSays', words: string | undefined): HTMLElement | '' | undefined =>
    words && el('section', {}, el('h3', {}, say(by)), block('quote', say(by), foreign(words, { lines: true })));
  const list = summary.arguments;
  const main = el(
    'main',
    {},
    facts,
    summary.effect === 'destructive' && notice('destructive', true),
    // A risk this host does not know is a risk.
    summary.risk !== 'display_only' && summary.risk !== 'user_confirmation' && notice('risky', true),
    summary.changed && notice('changed'),
    el('section', {}, el('h3', {}, say(list.length ? 'arguments' : 'noArguments')), ...list.map((argument) => argumentBlock(argument, say, digest))),
    said('agentSays', summary.reason),
    said('pageSays', summary.description),
  );
  return { heading, main };
}

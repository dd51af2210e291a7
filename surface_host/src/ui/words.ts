/** Picks the language and fills the gaps of a message. */

import { en, zh, type Messages } from './messages.js';

/** Says a message of ours, with values in place of `{0}`, `{1}`. */
export type Say = (key: keyof Messages, ...values: (string | number)[]) => string;

export function wordsFor(lang: string | undefined, overrides: Partial<Messages> | undefined): Say {
  const wanted = lang ?? (document.documentElement.lang || navigator.language);
  const catalogue: Messages = { ...(/^zh\b/i.test(wanted) ? zh : en), ...overrides };
  return (key, ...values) => catalogue[key].replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)]));
}

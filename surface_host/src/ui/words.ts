/** Picks the language and fills the gaps of a message. */

import { en, zh, type Messages } from './messages.js';

/** Says a message, with values in place of `{0}`, `{1}`. */
export type SayOf<M> = (key: keyof M, ...values: (string | number)[]) => string;

/** Says a message of ours. */
export type Say = SayOf<Messages>;

export function wordsFor(lang: string | undefined, overrides: Partial<Messages> | undefined): Say {
  return sayFrom({ en, zh }, lang, overrides);
}

/** The same for another catalogue, one object for each language. */
export function sayFrom<M extends object>(catalogues: { readonly en: M; readonly zh: M }, lang: string | undefined, overrides: Partial<M> | undefined): SayOf<M> {
  const wanted = lang ?? (document.documentElement.lang || navigator.language);
  const chosen: M = { ...(/^zh\b/i.test(wanted) ? catalogues.zh : catalogues.en), ...overrides };
  return (key, ...values) => String(chosen[key]).replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)]));
}

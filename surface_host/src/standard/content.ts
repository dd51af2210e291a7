/** What an agent gave, read field by field: whatever is missing or of another kind is empty, and nothing fails. */

import { el, foreign } from '../ui/dom.js';
import type { SayOf } from '../ui/words.js';
import type { StandardMessages } from './messages.js';

export type Content = Readonly<Record<string, unknown>>;
export type Say = SayOf<StandardMessages>;

export function textAt(content: Content, key: string): string {
  const value = Object.hasOwn(content, key) ? content[key] : undefined;
  return typeof value === 'string' ? value : '';
}

export function numberAt(content: Content, key: string): number | undefined {
  const value = Object.hasOwn(content, key) ? content[key] : undefined;
  return typeof value === 'number' ? value : undefined;
}

export const flagAt = (content: Content, key: string): boolean => Object.hasOwn(content, key) && content[key] === true;

/** An agent's words: isolated, with everything hidden made visible, line feeds as lines. */
export const words = (text: string): HTMLElement => foreign(text, { layout: true });

export function detailOf(content: Content): HTMLElement | undefined {
  const detail = textAt(content, 'detail');
  return detail === '' ? undefined : el('p', { class: 'detail dim' }, words(detail));
}

/** The components that only tell: text, Markdown, status, progress, error. Native elements, and text as text. */

import { markdownNodes } from '../documents/render/parts/markdown.js';
import { el } from '../ui/dom.js';
import type { Content, Say } from './content.js';
import { detailOf, textAt, words } from './content.js';

const GLYPHS = { info: 'i', running: '…', success: '✓', warning: '!', error: '×' } as const;
type State = keyof typeof GLYPHS;

export const text = (content: Content): HTMLElement => el('p', { class: 'text' }, words(textAt(content, 'text')));

export const markdown = (content: Content): HTMLElement => el('div', { class: 'markdown' }, ...markdownNodes(textAt(content, 'markdown')));

function stated(state: State, label: string, content: Content, say: Say): HTMLElement {
  const mark = el('span', { class: 'mark', 'aria-hidden': 'true' }, GLYPHS[state]);
  const line = el('p', { class: 'line' }, el('span', { class: 'sr' }, `${say(`state_${state}`)}: `), words(label));
  return el('div', { class: `state ${state}`, role: state === 'error' ? 'alert' : 'status' }, mark, el('div', { class: 'grow' }, line, detailOf(content)));
}

export function status(content: Content, say: Say): HTMLElement {
  const named = textAt(content, 'state');
  return stated(Object.hasOwn(GLYPHS, named) ? (named as State) : 'info', textAt(content, 'label'), content, say);
}

export const error = (content: Content, say: Say): HTMLElement => stated('error', textAt(content, 'message'), content, say);

export function progress(content: Content, say: Say): HTMLElement {
  const { value, max = 1 } = content;
  const label = textAt(content, 'label');
  const isKnown = typeof value === 'number' && typeof max === 'number' && max > 0;
  const bar = el('progress', { 'aria-label': label, ...(isKnown ? { max: String(max), value: String(value) } : {}) });
  const told = isKnown ? (max === 1 ? `${Math.round(value * 100)} %` : say('of', value, max)) : say('goesOn');
  return el('div', { class: 'progress' }, el('p', { class: 'line split' }, words(label), el('span', { class: 'dim' }, told)), bar, detailOf(content));
}

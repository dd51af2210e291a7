/**
 * Markdown, from its syntax tree to elements without a text of HTML in between.
 *
 * What is not in the table has no element: a link is its words, a picture its description, HTML the characters it is
 * written with. So nothing here loads, navigates or runs.
 */

import { fromMarkdown } from 'mdast-util-from-markdown';
import type { Nodes, Parents } from 'mdast';
import { el, type Child } from '../../../ui/dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

type Draw = { readonly [T in Nodes['type']]?: (node: Extract<Nodes, { type: T }>) => Child };

/** Deeper than anybody reads; a text of `>` alone nests as deep as it is long. */
const DEEPEST = 32;

function childrenOf(node: Parents, depth: number): Child[] {
  return node.children.map((child) => draw(child, depth + 1));
}

function draw(node: Nodes, depth: number): Child {
  if (depth > DEEPEST) return undefined;
  const inside = (): Child[] => ('children' in node ? childrenOf(node, depth) : []);
  const table: Draw = {
    paragraph: () => el('p', { dir: 'auto' }, ...inside()),
    heading: ({ depth: level }) => el('div', { class: 'heading', role: 'heading', 'aria-level': String(Math.min(level + 1, 6)), 'data-level': String(Math.min(level, 3)), dir: 'auto' }, ...inside()),
    strong: () => el('strong', {}, ...inside()),
    emphasis: () => el('em', {}, ...inside()),
    inlineCode: ({ value }) => el('code', { dir: 'auto' }, value),
    code: ({ value }) => el('pre', { tabindex: '0', dir: 'auto' }, el('code', {}, value)),
    blockquote: () => el('blockquote', {}, ...inside()),
    list: ({ ordered, start }) => (ordered ? el('ol', { start: String(start ?? 1) }, ...inside()) : el('ul', {}, ...inside())),
    listItem: () => el('li', { dir: 'auto' }, ...inside()),
    thematicBreak: () => el('hr'),
    break: () => el('br'),
    text: ({ value }) => value,
    html: ({ value }) => value,
    image: ({ alt }) => alt,
    imageReference: ({ alt }) => alt,
  };
  const drawn = table[node.type] as ((node: Nodes) => Child) | undefined;
  if (drawn) return drawn(node);
  return el('span', {}, ...inside());
}

/** What `text` is drawn as. */
export const markdownNodes = (text: string): (Node | string)[] =>
  fromMarkdown(text)
    .children.map((child) => draw(child, 1))
    .filter((child): child is Node | string => typeof child === 'string' || child instanceof Node);

export const markdown: Builder<PropsByType['Markdown']> = () => {
  const element = el('div', { class: 'markdown' });
  let drawn: string | undefined;
  return {
    element,
    update({ text }) {
      if (text === drawn) return;
      element.replaceChildren(...markdownNodes(text));
      drawn = text;
    },
  };
};

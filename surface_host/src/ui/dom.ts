/** Building blocks that pass `trusted-types 'none'` and `style-src 'none'`: nodes, text, adopted sheets. */

import { visible, type VisibleOptions } from '../core/index.js';

export type Child = Node | string | null | undefined | false;
type Attributes = Readonly<Record<string, string | boolean | undefined>>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => typeof child === 'string' || child instanceof Node));
  return node;
}

export function button(label: string, className: string, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const node = el('button', { type: 'button', class: className }, label);
  node.addEventListener('click', (event) => {
    // A page script can call click(); only a person counts.
    if (event.isTrusted) onClick(event);
  });
  return node;
}

/** Foreign text: isolated from its surroundings, with everything hidden made visible. */
export function foreign(text: string, options?: VisibleOptions): HTMLElement {
  const parts = visible(text, options).map(({ text: part, mark }) => (mark ? el('span', { class: 'mark' }, part) : part));
  return el('bdi', { dir: 'auto' }, ...parts);
}

export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

export interface Shell {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
}

/** An element of ours at the end of the document, with a shadow root the page cannot reach by itself. */
export function createShell(mode: ShadowRootMode, lang: string, ...sheets: CSSStyleSheet[]): Shell {
  const element = el('div', { lang, dir: 'ltr' });
  const root = element.attachShadow({ mode });
  root.adoptedStyleSheets = sheets;
  return { element, root };
}

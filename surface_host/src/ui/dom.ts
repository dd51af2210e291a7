/** Building blocks that pass `trusted-types 'none'` and `style-src 'none'`: nodes, text, adopted sheets. */

import { visible, type VisibleOptions } from '../core/visible.js';
import baseCss from './base.css?inline';
import commonCss from './common.css?inline';

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

export function button(label: string, className: string, onClick: () => void): HTMLButtonElement {
  const node = el('button', { type: 'button', class: className }, label);
  node.addEventListener('click', ({ isTrusted }) => {
    // A page script can call click(); only a person counts.
    if (isTrusted) onClick();
  });
  return node;
}

/** Foreign text: isolated from its surroundings, with everything hidden made visible. */
export function foreign(text: string, options?: VisibleOptions): HTMLElement {
  return el('bdi', { dir: 'auto' }, ...visible(text, options).map(({ text: part, mark }) => (mark ? el('span', { class: 'mark' }, part) : part)));
}

/** An element of ours with a shadow root the page cannot reach by itself. */
export function createShell(mode: ShadowRootMode, css: string): { readonly element: HTMLElement; readonly root: ShadowRoot } {
  const element = el('div', { dir: 'ltr' });
  const root = element.attachShadow({ mode });
  dress(root, baseCss, commonCss, css);
  return { element, root };
}

/** Gives a root its sheets, in this order. */
export function dress(root: ShadowRoot, ...sheets: readonly string[]): void {
  root.adoptedStyleSheets = sheets.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

/** Changes to elements that touch nothing where nothing changed: what a person reads, selects or types in stays as it is. */

const SVG = 'http://www.w3.org/2000/svg';

type Attributes = Readonly<Record<string, string | number>>;

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

export function setText(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute; undefined and false take it away. */
export function setAttribute(node: Element, name: string, value: string | boolean | undefined): void {
  if (value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== (value === true ? '' : value)) node.setAttribute(name, value === true ? '' : value);
}

/** Makes `children` the children of `parent`. Those that stay and keep their order are not moved: a move costs the focus. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of children) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Keeps one element for each index: as many as there are `items`, each brought in line with its item. */
export function setItems<T, E extends Element>(parent: Element, items: readonly T[], create: () => E, update: (element: E, item: T, index: number) => void): void {
  while (parent.childElementCount > items.length) parent.lastElementChild?.remove();
  while (parent.childElementCount < items.length) parent.append(create());
  items.forEach((item, index) => update(parent.children[index] as E, item, index));
}

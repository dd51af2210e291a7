/** `<ostiary-workspace>`: the box a page reserves for mini apps. It knows nothing; whoever fills it watches it come and go. */

export const NAME = 'ostiary-workspace';

interface Box {
  new (): HTMLElement;
  readonly watchers: Set<() => void>;
}

/** Of all copies of this module in a document, the first one defines the element, and all watch that one. */
function box(): Box {
  const existing = customElements.get(NAME) as Box | undefined;
  if (existing) return existing;
  const watchers = new Set<() => void>();
  const notify = (): void => watchers.forEach((watcher) => watcher());
  class OstiaryWorkspace extends HTMLElement {
    static readonly watchers = watchers;
    connectedCallback(): void {
      // A move is a leave and an arrival in one turn; only where it ends counts.
      queueMicrotask(notify);
    }
    disconnectedCallback(): void {
      queueMicrotask(notify);
    }
  }
  customElements.define(NAME, OstiaryWorkspace);
  return OstiaryWorkspace;
}

/** Calls `task` whenever such an element came or went; returns how to stop. */
export function watchBoxes(task: () => void): () => void {
  const { watchers } = box();
  watchers.add(task);
  return () => void watchers.delete(task);
}

/** The box for `site`: one that names it, else one that names nobody. */
export function findBox(site: string): HTMLElement | null {
  const all = [...document.querySelectorAll<HTMLElement>(NAME)];
  return all.find((element) => element.getAttribute('site') === site) ?? all.find((element) => !element.hasAttribute('site')) ?? null;
}

const roots = new WeakMap<HTMLElement, ShadowRoot>();

/** The root of a box; null if somebody else has filled it. */
export function rootOf(element: HTMLElement, mode: ShadowRootMode): ShadowRoot | null {
  const known = roots.get(element);
  if (known) return known;
  try {
    const root = element.attachShadow({ mode });
    roots.set(element, root);
    return root;
  } catch {
    return null;
  }
}

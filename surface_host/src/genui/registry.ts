/** Which types may be drawn: a closed list that the page makes by imports of its own. Nothing is ever looked up by a path. */

/** An element that draws sanitised props. What it has to say it says by events. */
export interface GenuiElement extends HTMLElement {
  props: Readonly<Record<string, unknown>>;
}

/** A custom element's class, already defined. */
export type GenuiComponent = new () => GenuiElement;

const components = new Map<string, GenuiComponent>();
const watchers = new Set<() => void>();

const changed = (): void => watchers.forEach((watcher) => watcher());

/** Lets `type` be drawn by `component`. A blank type is ignored. */
export function registerGenuiComponent(type: string, component: GenuiComponent): void {
  if (typeof type !== 'string' || type.trim() === '') return;
  components.set(type, component);
  changed();
}

/** Who draws `type`; undefined if nobody does. */
export const resolveGenuiComponent = (type: string): GenuiComponent | undefined => components.get(type);

/** Takes `type` off the list. */
export function unregisterGenuiComponent(type: string): void {
  if (components.delete(type)) changed();
}

/** Calls `watcher` after each change of the list; returns how to stop. */
export function watchGenuiComponents(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** What a component of a document is made of, and what it may reach. Nothing else of the page is in its hands. */

import type { SayOf } from '../../ui/words.js';
import type { Expr, Field, Scalar } from '../types.js';
import type { RenderMessages } from './messages.js';
import type { Numbers } from './numbers.js';

/** Where an action stands, as far as its button has to know. */
export type ActionState =
  | 'ready'
  /** The document is still being written; nothing leaves the page before it is complete. */
  | 'closed'
  | 'sending'
  /** It did not get through. The same request may go again. */
  | 'unsent';

/** The world of one document, as it is at the current revision. */
export interface Scene {
  readonly say: SayOf<RenderMessages>;
  readonly numbers: Numbers;
  /**
   * The value of an expression in the current state.
   *
   * @throws if it has none; only the node that asked feels it.
   */
  read(value: Expr): Scalar;
  /** The same as a person reads it. */
  text(value: Expr): string;
  number(value: Expr): number;
  flag(value: Expr): boolean;
  field(id: string): Field;
  value(field: string): Scalar;
  /** Writes a field. Why the state did not take it, as a code; then nothing changed. */
  write(field: string, value: Scalar): string | undefined;
  action(id: string): ActionState;
  /** How often an action, not the person's typing, wrote the field. */
  rewrites(field: string): number;
  /** Runs an action for a gesture on node `from`; `isSubmit` if that is the form whose controls must be filled in. */
  press(id: string, gesture: Event, from: string, isSubmit: boolean): void;
  /** Sends what did not get through once more. */
  again(id: string, gesture: Event): void;
  /** An id for an element of node `id`: unique in the tree it stands in. */
  name(id: string, part: string): string;
}

/** One component on the page. */
export interface Part<P> {
  readonly element: Element;
  /** Brings the element in line with `props` and the scene; what a person is doing in it stays. */
  update(props: P): void;
  /** Puts the children where they belong, in this order. */
  place?(children: readonly HTMLElement[]): void;
  /** Makes child `index` visible. */
  reveal?(index: number): void;
  /** The element to go to if what is in it was not accepted or, where its form is submitted, is missing. */
  refused?(isSubmitted: boolean): HTMLElement | undefined;
  destroy?(): void;
}

/** Makes one component: its fixed elements and listeners. What depends on the props comes by `update`. */
export type Builder<P> = (scene: Scene, id: string) => Part<P>;

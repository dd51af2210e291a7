/** The language as the renderer takes it: states in, states or codes out. */

import { evaluationOf } from './evaluate.js';
import { Refused, type DocumentCode } from './faults.js';
import { initialState, mapResult, restoreState, runAction, updateState } from './state.js';
import type { Expr, Scalar, State, UIDocument } from './types.js';

/** A state that took a change, or the code that says why the old one stays. */
export type Change = { readonly ok: true; readonly state: State } | { readonly ok: false; readonly code: DocumentCode };

function changed(work: () => State): Change {
  try {
    return { ok: true, state: work() };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, code: error.code };
    throw error;
  }
}

export const engine = {
  initial: initialState,
  write: (document: UIDocument, state: State, field: string, value: Scalar): Change => changed(() => updateState(document, state, { [field]: value })),
  /** A `set` or `reset`. */
  act: (document: UIDocument, state: State, action: string): Change => changed(() => runAction(document, state, action)),
  /** The fields of a result, put where the action's `resultMap` wants them. */
  accept: (document: UIDocument, state: State, action: string, result: State): Change => changed(() => mapResult(document, state, action, result)),
  /** What may stay of a state when the document is replaced. */
  carry: restoreState,
  /** Values in one state; the function throws `NoValue`. */
  evaluate: (document: UIDocument, state: State) => (value: Expr): Scalar => evaluationOf(document, state).value(value),
};

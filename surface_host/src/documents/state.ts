/**
 * The state of a document in use, and what its local actions make of it (design §12, rules H2, H9).
 *
 * INVARIANT: a state is never changed. A write is judged as a whole candidate, which takes the old one's place or is
 * dropped; whatever throws here has changed nothing. Pointers of refusals are into the state.
 */

import { byteLength, canonical } from './canonical.js';
import { domainFault, offersOf } from './domains.js';
import { evaluationOf } from './evaluate.js';
import { NoValue, Refused, refused, type DocumentCode } from './faults.js';
import { unsigned } from './numbers.js';
import { isMembers, type Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { assertSafeJSON } from './safe.js';
import { LIMITS } from './table.js';
import type { Action, Expr, InvokeAction, ResetAction, Scalar, State, UIDocument } from './types.js';

type Values = Readonly<Record<string, unknown>>;

export const initialState = ({ state = {} }: Pick<UIDocument, 'state'>): State =>
  Object.freeze(Object.fromEntries(Object.entries(state).map(([id, field]) => [id, field.default])));

/** The state with some fields changed. Throws `Refused`. */
export function updateState(document: UIDocument, state: State, changes: Values): State {
  const fields = document.state ?? {};
  for (const id of [...Object.keys(state), ...Object.keys(changes)]) if (!Object.hasOwn(fields, id)) throw refusedAt('document.unknown_field', id);
  const candidate: Values = { ...state, ...changes };
  for (const id of Object.keys(fields)) {
    const code = Object.hasOwn(candidate, id) ? faultOf(document, id, candidate[id]) : 'document.missing_key';
    if (code) throw refusedAt(code, id);
  }
  return assertSmall(taken(document, (id) => candidate[id] as Scalar));
}

/** What of a kept state is still good, and the defaults for the rest. Refuses nothing. */
export function restoreState(document: UIDocument, saved: unknown): State {
  try {
    const values = assertSafeJSON(saved);
    if (!isMembers(values)) return initialState(document);
    const isGood = (id: string): boolean => values.has(id) && faultOf(document, id, values.get(id)) === undefined;
    return assertSmall(taken(document, (id, fallback) => (isGood(id) ? (values.get(id) as Scalar) : fallback)));
  } catch (error) {
    if (error instanceof Refused) return initialState(document);
    throw error;
  }
}

/** The state after a `set` or `reset`. Throws `Refused`. */
export function runAction(document: UIDocument, state: State, id: string): State {
  const action = actionOf(document, id);
  if (action?.type === 'set') return updateState(document, state, { [action.field]: valueOf(document, state, action.value, `/actions/${id}/value`) });
  if (action?.type === 'reset') return updateState(document, state, defaultsOf(document, action));
  throw refused('document.unknown_action');
}

/** The arguments of an `invoke` on the values a person entered; what is left out has its default. Throws `Refused`. */
export function actionArguments(document: UIDocument, id: string, values: Values): Readonly<Record<string, Scalar>> {
  const { args } = invokeOf(document, id);
  const state = updateState(document, initialState(document), values);
  const named = Object.entries(args).map(([name, value]) => [name, valueOf(document, state, value, `/actions/${id}/args/${name}`)] as const);
  if (sizeOf(new Map(named)) > LIMITS.invoke_bytes) throw refused('document.arguments_too_large');
  return Object.freeze(Object.fromEntries(named));
}

/** The state after the result of an `invoke` came back, mapped as its action says. Throws `Refused`. */
export function mapResult(document: UIDocument, state: State, id: string, result: Values): State {
  const changes = Object.entries(invokeOf(document, id).resultMap ?? {}).map(([field, member]) => {
    if (!Object.hasOwn(result, member)) throw refusedAt('document.missing_key', member);
    return [field, result[member]] as const;
  });
  return updateState(document, state, Object.fromEntries(changes));
}

const refusedAt = (code: DocumentCode, key: string): Refused => refused(code, cut(segment(key)));

function faultOf(document: UIDocument, id: string, value: unknown): DocumentCode | undefined {
  const field = document.state?.[id];
  if (!field) return 'document.unknown_field';
  const offered = offersOf(document).get(id);
  return domainFault(field, value) ?? (offered && !offered.has(value as Scalar) ? 'document.out_of_domain' : undefined);
}

/** A state with a value for each field, in document order. */
function taken({ state = {} }: UIDocument, value: (id: string, fallback: Scalar) => Scalar): State {
  const own = Object.entries(state).map(([id, field]) => [id, value(id, field.default)] as const);
  return Object.freeze(Object.fromEntries(own.map(([id, one]) => [id, typeof one === 'number' ? unsigned(one) : one])));
}

const sizeOf = (values: ReadonlyMap<string, Plain>): number => byteLength(canonical(values));

function assertSmall(state: State): State {
  if (sizeOf(new Map(Object.entries(state))) > LIMITS.state_bytes) throw refused('document.state_too_large');
  return state;
}

function defaultsOf(document: UIDocument, { fields }: ResetAction): State {
  const all = initialState(document);
  return fields ? Object.fromEntries(fields.map((id) => [id, all[id] as Scalar])) : all;
}

function actionOf({ actions = {} }: UIDocument, id: string): Action | undefined {
  return Object.hasOwn(actions, id) ? actions[id] : undefined;
}

function invokeOf(document: UIDocument, id: string): InvokeAction {
  const action = actionOf(document, id);
  if (action?.type !== 'invoke') throw refused('document.unknown_action');
  return action;
}

function valueOf(document: UIDocument, state: State, expression: Expr, at: string): Scalar {
  try {
    return evaluationOf(document, state).value(expression, at);
  } catch (error) {
    throw error instanceof NoValue ? refused(error.code, error.pointer) : error;
  }
}

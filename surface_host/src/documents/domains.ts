/** What a state field may hold, whoever writes it (rules H2, H4). */

import type { DocumentCode } from './faults.js';
import { nodesOf } from './nodes.js';
import { isOnGrid } from './numbers.js';
import { LIMITS } from './table.js';
import type { Field, PropsByType, Scalar, UIDocument } from './types.js';

const LONE_SURROGATE = /\p{Surrogate}/u;

type OfType<T extends Field['type']> = Extract<Field, { type: T }>;

const HOLDS: { readonly [T in Field['type']]: (field: OfType<T>, value: OfType<T>['default']) => boolean } = {
  // A person's keyboard can leave half a pair, which no text on the wire can carry.
  string: ({ maxLength = LIMITS.scalar }, value) => value.length <= maxLength && !LONE_SURROGATE.test(value),
  number: ({ min, max = LIMITS.magnitude, step }, value) =>
    value >= (min ?? -LIMITS.magnitude) && value <= max && (step === undefined || isOnGrid(value, step, min ?? 0)),
  boolean: () => true,
};

/** Why the field may not hold the value; nothing if it may. What Selects offer is not looked at. */
export function domainFault(field: Field, value: unknown): DocumentCode | undefined {
  if (typeof value !== field.type) return 'document.type_mismatch';
  const holds = HOLDS[field.type] as (field: Field, value: Scalar) => boolean;
  return holds(field, value as Scalar) ? undefined : 'document.out_of_domain';
}

/** By field, the values its Selects offer: all of one field offer the same. */
export type Offers = ReadonlyMap<string, ReadonlySet<Scalar>>;

const known = new WeakMap<Pick<UIDocument, 'root'>, Offers>();

export function offersOf(document: Pick<UIDocument, 'root'>): Offers {
  const offers = known.get(document) ?? offered(document);
  known.set(document, offers);
  return offers;
}

function offered(document: Pick<UIDocument, 'root'>): Offers {
  const offers = new Map<string, ReadonlySet<Scalar>>();
  for (const { node } of nodesOf(document)) if (node.type === 'Select') offers.set(node.props.field, valuesOf(node.props));
  return offers;
}

export const valuesOf = ({ options }: PropsByType['Select']): ReadonlySet<Scalar> => new Set(options.map(({ value }) => value));

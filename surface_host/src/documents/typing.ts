/** The types of expressions, found without evaluating anything; nothing is converted (the norm's phase 4). */

import { refused } from './faults.js';
import { cut, segment } from './pointers.js';
import { operators } from './rows.js';
import type { Expr, Operation, Scalar, UIDocument, ValueType } from './types.js';

export const typeOf = (value: Scalar): ValueType => typeof value as ValueType;

/** The types of one document's expressions. Both functions throw `Refused`. */
export interface Typing {
  /** `at`: where `expression` stands. */
  type(expression: Expr, at: string): ValueType;
  /** The same, and it must be `expected`. */
  expect(expression: Expr, at: string, expected: ValueType | 'scalar'): void;
}

/** Thrown, not called for: a chain of derived values may be longer than the stack is deep. */
class Needs {
  constructor(readonly derived: string) {}
}

export function createTyping({ state = {}, derived = {} }: Pick<UIDocument, 'state' | 'derived'>): Typing {
  const known = new Map<string, ValueType>();
  /** Derived values that are being found, each needed by the one before it. */
  const open: string[] = [];
  /** What was found of expressions, so that one begun again goes on where it stopped. */
  const found = new Map<Operation, ValueType>();

  const referred = (name: string, at: string): ValueType => {
    if (Object.hasOwn(state, name)) return (state[name] as { type: ValueType }).type;
    if (!Object.hasOwn(derived, name)) throw refused('document.unknown_ref', cut(at));
    if (open.includes(name)) throw refused('document.cycle', cut(at));
    const type = known.get(name);
    if (!type) throw new Needs(name);
    return type;
  };

  const operated = ({ op, args }: Operation, at: string): ValueType => {
    const { takes, gives } = operators[op];
    /** What `any` stood for. */
    let same: ValueType = 'boolean';
    args.forEach((arg, index) => {
      const here = `${at}/args${segment(index)}`;
      const type = typed(arg, here);
      const taken = takes[Math.min(index, takes.length - 1)];
      if (taken === 'any') same = type;
      const needed = { any: type, scalar: type, same, decimals: 'number', boolean: 'boolean', number: 'number' }[taken ?? 'any'];
      if (type !== needed) throw refused('document.type_mismatch', cut(here));
    });
    return gives === 'same' ? same : gives;
  };

  const typed = (expression: Expr, at: string): ValueType => {
    if (typeof expression !== 'object') return typeOf(expression);
    if ('ref' in expression) return referred(expression.ref, `${at}/ref`);
    const type = found.get(expression) ?? operated(expression, at);
    found.set(expression, type);
    return type;
  };

  // A derived value is found in its own place, so that a circle is told where it closes.
  for (const first of Object.keys(derived)) {
    if (!known.has(first)) open.push(first);
    for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
      try {
        known.set(name, typed(derived[name] as Expr, `/derived/${name}`));
        open.pop();
      } catch (error) {
        if (!(error instanceof Needs)) throw error;
        open.push(error.derived);
      }
    }
  }

  return {
    type: typed,
    expect(expression, at, expected) {
      const type = typed(expression, at);
      if (expected !== 'scalar' && type !== expected) throw refused('document.type_mismatch', cut(at));
    },
  };
}

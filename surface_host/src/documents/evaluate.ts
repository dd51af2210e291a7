/**
 * The value of an expression in one state (design §12, rules H3).
 *
 * Every visit of an expression is a step: literals and references, too. A derived value is worked out when something
 * first needs it and kept, also when there is none; so a fault reaches only the nodes that use it. `if`, `and` and `or`
 * visit what they need, every other operator all its arguments from left to right before it is applied.
 * Types were judged with the document: none is looked at here.
 */

import { NoValue } from './faults.js';
import { bounded, power, rounded, text, type Outcome } from './numbers.js';
import { cut, segment } from './pointers.js';
import { LIMITS } from './table.js';
import type { Expr, Operation, Operator, Scalar, State, UIDocument } from './types.js';

export interface Evaluation {
  /** `at`: the pointer of `expression` itself, for the fault. Throws `NoValue`. */
  value(expression: Expr, at?: string): Scalar;
  /** Each derived value in document order, or why it has none. */
  derived(): ReadonlyMap<string, Scalar | NoValue>;
}

type Lazy = Extract<Operator, 'if' | 'and' | 'or'>;
type Eager = Exclude<Operator, Lazy>;

/** What the operator needs of its arguments. `hold` throws the fault of the operation itself. */
type Apply = (args: readonly Scalar[], hold: (outcome: Outcome) => number) => Scalar;
type Choose = (args: readonly Expr[], value: (index: number) => Scalar) => Scalar;

const folded = (step: (left: number, right: number) => Outcome): Apply => (args, hold) =>
  (args as readonly number[]).reduce((left, right) => hold(step(left, right)));

const compared = (holds: (left: number, right: number) => boolean): Apply => (args) => {
  const [left, right] = args as readonly [number, number];
  return holds(left, right);
};

const spelled = (value: Scalar): string => (typeof value === 'number' ? text(value) : String(value));

const EAGER: { readonly [O in Eager]: Apply } = {
  not: ([value]) => !value,
  eq: ([left, right]) => left === right,
  lt: compared((left, right) => left < right),
  lte: compared((left, right) => left <= right),
  gt: compared((left, right) => left > right),
  gte: compared((left, right) => left >= right),
  add: folded((left, right) => bounded(left + right)),
  sub: folded((left, right) => bounded(left - right)),
  mul: folded((left, right) => bounded(left * right)),
  div: folded((left, right) => (right === 0 ? 'document.division_by_zero' : bounded(left / right))),
  pow: folded(power),
  min: folded((left, right) => (right < left ? right : left)),
  max: folded((left, right) => (right > left ? right : left)),
  round: (args) => {
    const [value, places = 0] = args as readonly number[];
    return rounded(value as number, places);
  },
  concat: (args, hold) => {
    const joined = args.map(spelled).join('');
    if (joined.length > LIMITS.scalar) hold('document.text_too_long');
    return joined;
  },
};

const LAZY: { readonly [O in Lazy]: Choose } = {
  if: (_, value) => value(value(0) ? 1 : 2),
  and: (args, value) => args.every((_, index) => value(index)),
  or: (args, value) => args.some((_, index) => value(index)),
};

const isLazy = (operator: Operator): operator is Lazy => Object.hasOwn(LAZY, operator);

type Derived = Readonly<Record<string, Expr>>;
const orders = new WeakMap<Derived, readonly string[]>();

/** The derived values, each behind those it needs; a judged document has no circle. */
function orderOf(derived: Derived): readonly string[] {
  const kept = orders.get(derived);
  if (kept) return kept;
  const order = new Set<string>();
  const pending = Object.keys(derived).reverse();
  for (let name = pending.at(-1); name !== undefined; name = pending.at(-1)) {
    const missing = order.has(name) ? [] : needs(derived[name] as Expr).filter((id) => Object.hasOwn(derived, id) && !order.has(id));
    pending.push(...new Set(missing));
    if (missing.length === 0) order.add(pending.pop() as string);
  }
  orders.set(derived, [...order]);
  return [...order];
}

function needs(expression: Expr): readonly string[] {
  if (typeof expression !== 'object') return [];
  return 'ref' in expression ? [expression.ref] : expression.args.flatMap(needs);
}

type Declared = Pick<UIDocument, 'derived'>;

/** Evaluates on `state`, which holds a value for each state field. A whole round of `derived` and each `value` have a budget of their own. */
export function createEvaluation({ derived = {} }: Declared, state: State): Evaluation {
  const known = new Map<string, Scalar | NoValue>();
  let steps = 0;

  const referred = (name: string): Scalar => {
    if (Object.hasOwn(state, name)) return state[name] as Scalar;
    // What it needs comes first, so that a long chain of derived values is no deep recursion.
    for (const earlier of known.has(name) ? [] : orderOf(derived)) {
      if (!known.has(earlier)) known.set(earlier, settled(() => visit(derived[earlier] as Expr, `/derived/${earlier}`)));
      if (earlier === name) break;
    }
    const value = known.get(name) as Scalar | NoValue;
    if (value instanceof NoValue) throw value;
    return value;
  };

  const applied = ({ op, args }: Operation, at: string): Scalar => {
    const value = (index: number): Scalar => visit(args[index] as Expr, `${at}/args${segment(index)}`);
    if (isLazy(op)) return LAZY[op](args, value);
    return EAGER[op](args.map((_, index) => value(index)), (outcome) => {
      if (typeof outcome === 'string') throw new NoValue(outcome, cut(at));
      return outcome;
    });
  };

  const visit = (expression: Expr, at: string): Scalar => {
    steps += 1;
    if (steps > LIMITS.evaluation_steps) throw new NoValue('document.too_many_steps', cut(at));
    if (typeof expression !== 'object') return expression;
    return 'ref' in expression ? referred(expression.ref) : applied(expression, at);
  };

  return {
    value(expression, at = '') {
      steps = 0;
      return visit(expression, at);
    },
    derived() {
      steps = 0;
      for (const name of Object.keys(derived)) settled(() => referred(name));
      return new Map(Object.keys(derived).map((name) => [name, known.get(name) as Scalar | NoValue]));
    },
  };
}

function settled(work: () => Scalar): Scalar | NoValue {
  try {
    return work();
  } catch (error) {
    if (error instanceof NoValue) return error;
    throw error;
  }
}

const kept = new WeakMap<State, { readonly document: Declared; readonly evaluation: Evaluation }>();

/** The evaluation of `document` on `state`: the same one as long as both are, so nothing is worked out twice. */
export function evaluationOf(document: Declared, state: State): Evaluation {
  const found = kept.get(state);
  if (found?.document === document) return found.evaluation;
  const evaluation = createEvaluation(document, state);
  kept.set(state, { document, evaluation });
  return evaluation;
}

/**
 * How many nodes and expressions there are, and how deep they go (the norm's phase 2).
 *
 * The shape is not known yet: what is not of the expected type is passed over. Recursion is bounded by the scanner's depth.
 */

import { refused, type DocumentCode } from './faults.js';
import { isItems, isMembers, type Members, type Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { LIMITS } from './table.js';

class Budget {
  #left: number;

  constructor(
    most: number,
    readonly deepest: number,
    readonly tooMany: DocumentCode,
    readonly tooDeep: DocumentCode,
  ) {
    this.#left = most;
  }

  spend(depth: number, at: string): void {
    this.#left -= 1;
    if (this.#left < 0) throw refused(this.tooMany, cut(at));
    if (depth > this.deepest) throw refused(this.tooDeep, cut(at));
  }
}

class Walk {
  readonly #nodes = new Budget(LIMITS.nodes, LIMITS.ui_depth, 'document.too_many_nodes', 'document.ui_too_deep');
  readonly #expressions = new Budget(LIMITS.expressions, LIMITS.expression_depth, 'document.too_many_expressions', 'document.expression_too_deep');

  node(value: Plain, depth: number, at: string): void {
    if (!isMembers(value)) return;
    this.#nodes.spend(depth, at);
    for (const [key, member] of value) {
      const here = at + segment(key);
      if (key === 'visible') this.expression(member, here);
      else if (key === 'props') this.#props(member, here);
      else if (key === 'children' && isItems(member)) member.forEach((child, index) => this.node(child, depth + 1, here + segment(index)));
    }
  }

  #props(value: Plain, at: string): void {
    if (!isMembers(value)) return;
    for (const [key, member] of value) {
      const here = at + segment(key);
      this.expression(member, here);
      if (isItems(member)) member.forEach((item, index) => this.expressions(item, here + segment(index)));
    }
  }

  /** Each member of what is an object. */
  expressions(value: Plain | undefined, at: string): void {
    if (isMembers(value)) for (const [key, member] of value) this.expression(member, at + segment(key));
  }

  expression(value: Plain, at: string): void {
    if (isMembers(value)) this.#counted(value, 1, at);
  }

  /** Inside an expression everything counts, scalars too. */
  #counted(value: Plain, depth: number, at: string): void {
    this.#expressions.spend(depth, at);
    const args = isMembers(value) ? value.get('args') : undefined;
    if (isItems(args)) args.forEach((item, index) => this.#counted(item, depth + 1, `${at}/args${segment(index)}`));
  }
}

/** Throws `Refused` where one of the four budgets ends. */
export function assertBudgets(document: Plain): void {
  if (!isMembers(document)) return;
  const walk = new Walk();
  const places: Readonly<Record<string, (value: Plain) => void>> = {
    derived: (value) => walk.expressions(value, '/derived'),
    actions: (value) => actionsOf(value, walk),
    root: (value) => walk.node(value, 1, '/root'),
  };
  for (const [key, value] of document) if (Object.hasOwn(places, key)) places[key]?.(value);
}

function actionsOf(actions: Plain, walk: Walk): void {
  if (!isMembers(actions)) return;
  for (const [id, action] of actions) if (isMembers(action)) actionOf(action, `/actions${segment(id)}`, walk);
}

function actionOf(action: Members, at: string, walk: Walk): void {
  for (const [key, member] of action) {
    if (key === 'value') walk.expression(member, `${at}/value`);
    else if (key === 'args') walk.expressions(member, `${at}/args`);
  }
}

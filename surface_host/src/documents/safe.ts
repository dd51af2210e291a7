/**
 * Takes a document that arrives as objects instead of text, by what its properties are (rules H1).
 *
 * INVARIANT: no code of the value runs: no getter, no `toJSON`, no iterator. A proxy may still run its own traps and may
 * throw; it is refused then.
 */

import { Refused, refused } from './faults.js';
import { Gathering, type Plain } from './plain.js';

interface Visit {
  readonly keys: readonly string[];
  readonly holder: object;
  next: number;
}

/** A copy of `value`, every part of which JSON can say. Throws `Refused`: `not_json`, or what the scanner would say of its text. */
export function assertSafeJSON(value: unknown): Plain {
  try {
    return gathered(value);
  } catch (error) {
    throw error instanceof Refused ? error : refused('document.not_json');
  }
}

function gathered(root: unknown): Plain {
  const into = new Gathering();
  const seen = new Set<object>();
  const visits: Visit[] = [];

  const take = (value: unknown): void => {
    if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') {
      into.begin('scalar');
      return into.scalar(value);
    }
    if (typeof value !== 'object') throw into.fault('document.not_json');
    into.begin('container');
    // INVARIANT: each object is met once, so the value is a tree and the walk ends.
    if (seen.has(value)) throw into.fault('document.not_json');
    seen.add(value);
    const isArray = Array.isArray(value);
    const keys = isArray ? itemsOf(value) : membersOf(value);
    if (!keys) throw into.fault('document.not_json');
    if (isArray) into.openArray();
    else into.openObject();
    visits.push({ keys, holder: value, next: 0 });
  };

  take(root);
  for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
    const key = visit.keys[visit.next];
    visit.next += 1;
    if (key === undefined) {
      into.close();
      visits.pop();
      continue;
    }
    if (into.isInObject) into.key(key);
    const member = Object.getOwnPropertyDescriptor(visit.holder, key);
    if (!member || !('value' in member)) throw into.fault('document.not_json');
    if (!member.enumerable) throw into.fault('document.not_json', 'holder');
    take(member.value);
  }
  return into.root;
}

/** The keys of a plain object; undefined for any other. */
function membersOf(value: object): readonly string[] | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const keys = Reflect.ownKeys(value);
  return keys.every((key) => typeof key === 'string') ? keys : undefined;
}

/** The indices of an array without holes and without properties of its own; undefined for any other. */
function itemsOf(value: readonly unknown[]): readonly string[] | undefined {
  if (Object.getPrototypeOf(value) !== Array.prototype) return undefined;
  const keys = Reflect.ownKeys(value);
  // The last one is `length`; indices come first and in order.
  const isDense = keys.length === value.length + 1 && keys.every((key, index) => index === value.length || key === String(index));
  return isDense ? (keys.slice(0, -1) as string[]) : undefined;
}

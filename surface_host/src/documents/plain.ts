/**
 * JSON between the scanner and the verdict, and how it is gathered within the limits (the norm's phase 1).
 *
 * Objects are maps, because the members of a document are judged in the order of its text, and a JavaScript object would
 * move a key such as `1` to the front.
 */

import { refused, type DocumentCode, type Refused } from './faults.js';
import { unsigned } from './numbers.js';
import { cut, segment } from './pointers.js';
import { LIMITS, RESERVED_KEYS } from './table.js';

export type Members = ReadonlyMap<string, Plain>;
export type Plain = null | boolean | number | string | readonly Plain[] | Members;

export const isMembers = (value: Plain | undefined): value is Members => value instanceof Map;
export const isItems = (value: Plain | undefined): value is readonly Plain[] => Array.isArray(value);

const LONE_SURROGATE = /\p{Surrogate}/u;
const RESERVED: ReadonlySet<string> = new Set(RESERVED_KEYS);

type Open = { readonly items: Plain[] } | { readonly members: Map<string, Plain>; key: string };

/** Takes the parts of one value in the order of its text; the first part beyond a limit is thrown as `Refused`. */
export class Gathering {
  readonly #open: Open[] = [];
  #values = 0;
  #root: Plain = null;

  /** How many containers stand open. */
  get depth(): number {
    return this.#open.length;
  }

  get isInObject(): boolean {
    const top = this.#open.at(-1);
    return top !== undefined && 'members' in top;
  }

  /** What was gathered, when nothing stands open any more. */
  get root(): Plain {
    return this.#root;
  }

  /** A value begins here. */
  begin(what: 'scalar' | 'container'): void {
    const top = this.#open.at(-1);
    if (top && 'items' in top && top.items.length === LIMITS.items) throw this.fault('document.too_many_items', 'holder');
    this.#values += 1;
    if (this.#values > LIMITS.values) throw this.fault('document.too_many_values');
    if (what === 'container' && this.depth > LIMITS.depth) throw this.fault('document.too_deep');
  }

  openArray(): void {
    this.#open.push({ items: [] });
  }

  openObject(): void {
    this.#open.push({ members: new Map(), key: '' });
  }

  close(): void {
    const closed = this.#open.pop() as Open;
    this.#add('items' in closed ? closed.items : closed.members);
  }

  /** The key of the member that comes next. */
  key(text: string): void {
    const top = this.#open.at(-1) as Extract<Open, { members: unknown }>;
    this.#judge(text, 'holder');
    top.key = text;
    if (RESERVED.has(text)) throw this.fault('document.reserved_key');
    if (top.members.has(text)) throw this.fault('document.duplicate_key');
    if (top.members.size === LIMITS.keys) throw this.fault('document.too_many_keys', 'holder');
  }

  scalar(value: null | boolean | number | string): void {
    if (typeof value === 'string') this.#judge(value, 'value');
    if (typeof value !== 'number') return this.#add(value);
    if (!(Math.abs(value) <= LIMITS.integer)) throw this.fault('document.number_range');
    this.#add(unsigned(value));
  }

  /** The refusal for the value being read, or for the container that holds it. */
  fault(code: DocumentCode, where: 'value' | 'holder' = 'value'): Refused {
    const path = where === 'value' ? this.#open : this.#open.slice(0, -1);
    return refused(code, cut(path.map((open) => segment('items' in open ? open.items.length : open.key)).join('')));
  }

  #judge(text: string, where: 'value' | 'holder'): void {
    if (LONE_SURROGATE.test(text)) throw this.fault('document.lone_surrogate', where);
    if (text.length > LIMITS.string) throw this.fault('document.string_too_long', where);
  }

  #add(value: Plain): void {
    const top = this.#open.at(-1);
    if (!top) this.#root = value;
    else if ('items' in top) top.items.push(value);
    else top.members.set(top.key, value);
  }
}

/** The value as ordinary objects, frozen to the last part. Its keys are none that a prototype has a meaning for. */
export function frozen(value: Plain): unknown {
  if (isItems(value)) return Object.freeze(value.map(frozen));
  if (!isMembers(value)) return value;
  return Object.freeze(Object.fromEntries(Array.from(value, ([key, member]) => [key, frozen(member)])));
}

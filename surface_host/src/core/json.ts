/** What may leave a handler: JSON that means the same on the other side, or a reason why not. */

import type { Json } from '../protocol/frames.js';

/** Deeper than this the gateway's parser refuses the frame as a whole. */
export const MAX_DEPTH = 60;

export type JsonCheck =
  | { readonly ok: true; readonly value: Json; readonly text: string }
  | { readonly ok: false; readonly pointer: string; readonly reason: string };

interface Fault {
  readonly pointer: string;
  readonly reason: string;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

const token = (key: string): string => '/' + key.replace(/~/g, '~0').replace(/\//g, '~1');

function fault(value: unknown, pointer: string, above: readonly unknown[]): Fault | undefined {
  const at = (reason: string): Fault => ({ pointer, reason });
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? at('a lone surrogate') : undefined;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return at(String(value));
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? at('an integer beyond 2^53; send it as text') : undefined;
  }
  if (typeof value !== 'object') return at(typeof value);
  if (above.includes(value)) return at('a cycle');
  if (above.length >= MAX_DEPTH) return at('nested too deep');
  const proto: unknown = Object.getPrototypeOf(value);
  // Plain objects of any realm: what has no prototype, or one that has none itself.
  if (!Array.isArray(value) && proto !== null && Object.getPrototypeOf(proto) !== null) return at('not a plain object');
  // The spread fills the holes of a sparse array, so that they are found.
  for (const [key, item] of Object.entries(Array.isArray(value) ? [...(value as unknown[])] : value)) {
    const found = LONE_SURROGATE.test(key) ? at('a lone surrogate in a key') : fault(item, pointer + token(key), [...above, value]);
    if (found) return found;
  }
  return undefined;
}

/** Judges `value` and returns an independent copy of it. Nothing is dropped, rounded or converted on the way. */
export function checkJson(value: unknown): JsonCheck {
  try {
    const found = fault(value, '', []);
    if (found) return { ok: false, ...found };
    const text = JSON.stringify(value);
    return { ok: true, value: JSON.parse(text) as Json, text };
  } catch (error) {
    return { ok: false, pointer: '', reason: 'unreadable: ' + messageOf(error) };
  }
}

/** Same value as JSON, whatever the order of keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a);
  const right = b as Record<string, unknown>;
  return left.length === Object.keys(b).length && left.every(([key, value]) => Object.hasOwn(b, key) && sameJson(value, right[key]));
}

export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return tidy(text, 500);
}

/** Free text as the wire takes it. */
export const tidy = (text: string, length: number): string => wellFormed(cut(text, length));

/** Cuts to `length` UTF-16 units without splitting a pair. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** The gateway refuses a whole frame for one lone surrogate, so free text is repaired before it goes out. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

const encoder = new TextEncoder();

/** Bytes of `text` in UTF-8. */
export const byteLength = (text: string): number => encoder.encode(text).length;

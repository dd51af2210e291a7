/** What may leave a handler: JSON that means the same on the other side, or a reason why not. */

import type { Json } from '../protocol/frames.js';

/** Deeper than this the gateway's parser refuses the frame as a whole. */
export const MAX_DEPTH = 60;

export type JsonCheck =
  | { readonly ok: true; readonly value: Json; readonly text: string }
  | { readonly ok: false; readonly pointer: string; readonly reason: string };

const LONE_SURROGATE = /\p{Surrogate}/u;

class NotJson extends Error {
  constructor(
    readonly pointer: string,
    readonly reason: string,
  ) {
    super(reason);
  }
}

const token = (key: string): string => '/' + key.replace(/~/g, '~0').replace(/\//g, '~1');

function judge(value: unknown, pointer: string, above: readonly object[]): void {
  const refuse = (reason: string): never => {
    throw new NotJson(pointer, reason);
  };
  switch (typeof value) {
    case 'boolean':
      return;
    case 'string':
      if (LONE_SURROGATE.test(value)) refuse('a lone surrogate');
      return;
    case 'number':
      if (!Number.isFinite(value)) refuse(String(value));
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) refuse('an integer beyond 2^53; send it as text');
      return;
    case 'object':
      break;
    default:
      return refuse(typeof value);
  }
  if (value === null) return;
  if (above.includes(value)) refuse('a cycle');
  if (above.length >= MAX_DEPTH) refuse('nested too deep');
  const path = [...above, value];
  if (Array.isArray(value)) {
    // An index loop, because forEach would step over the holes of a sparse array.
    for (let i = 0; i < value.length; i += 1) judge(value[i], `${pointer}/${i}`, path);
    return;
  }
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== null && Object.getPrototypeOf(proto) !== null) refuse('not a plain object');
  for (const [key, item] of Object.entries(value)) {
    if (LONE_SURROGATE.test(key)) refuse('a lone surrogate in a key');
    judge(item, pointer + token(key), path);
  }
}

/** Judges `value` and returns an independent copy of it. Nothing is dropped, rounded or converted on the way. */
export function checkJson(value: unknown): JsonCheck {
  try {
    judge(value, '', []);
    const text = JSON.stringify(value);
    return { ok: true, value: JSON.parse(text) as Json, text };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, pointer: error.pointer, reason: error.reason };
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
  return wellFormed(cut(text, 500));
}

/** Cuts to `length` UTF-16 units without splitting a pair. */
export function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

/** The gateway refuses a whole frame for one lone surrogate, so free text is repaired before it goes out. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Bytes of `text` in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) bytes += 1;
    // Both halves of a pair count 2: 4 bytes for two units.
    if (unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff)) bytes += 1;
  }
  return bytes;
}

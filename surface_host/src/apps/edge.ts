/**
 * Where the strings of a frame become words the host acts on, or nothing.
 *
 * A frame is not trusted: what is too large, too much, undeclared, of another shape or no JSON the gateway would take is
 * dropped and counted. Pure; time comes from outside.
 */

import { byteLength, checkJson, FRAME_LIMIT, OUTPUT_LIMIT, tidy } from '../core/index.js';
import type { JsonObject } from '../protocol/apps.js';
import type { Json, ResultCode } from '../protocol/frames.js';
import { isRecord, parseJson } from '../protocol/guards.js';
import { APP, FRAME, SURFACE, type FromApp } from '../sandbox/words.js';

/** One message of a surface, in bytes. */
export const SURFACE_BYTES = 20 * 1024;

/** An event's data is smaller than this. */
export const DATA_BYTES = 16_384;

/** What an action of a frame may carry: the gateway's limit for arguments. */
export const INPUT_BYTES = 128 * 1024;

const EVENT = /^[A-Za-z][A-Za-z0-9._:-]{0,63}$/;
const ACTION = /^[a-z][A-Za-z0-9_]*(\.[a-z][A-Za-z0-9_]*){1,3}$/;
const CODES: readonly string[] = ['handler_error', 'not_available', 'arguments_invalid', 'cancelled', 'not_achieved'] satisfies ResultCode[];

export type FromFrame =
  | { readonly type: 'ready' }
  | { readonly type: 'event'; readonly event: string; readonly data: JsonObject }
  | { readonly type: 'resize'; readonly height: number }
  | { readonly type: 'pong'; readonly n: number }
  | { readonly type: 'touched' }
  | FromApp;

/** Among the declared events: all that have the form of one pass. */
const EVERY = '*';

export interface Terms {
  /** The events the bundle declared. */
  readonly events: ReadonlySet<string>;
  readonly handlers: boolean;
}

/** What one message of a frame says; null is dropped. */
export function judge(message: unknown, terms: Terms): FromFrame | null {
  const limit = terms.handlers ? FRAME_LIMIT : SURFACE_BYTES;
  if (typeof message !== 'string' || message.length > limit || byteLength(message) > limit) return null;
  const value = parseJson(message);
  if (!isRecord(value)) return null;
  const { namespace, ...word } = value;
  if (namespace === SURFACE) return byteLength(message) > SURFACE_BYTES ? null : surface(word, terms);
  if (namespace === FRAME) return prelude(word);
  return namespace === APP && terms.handlers ? app(word) : null;
}

/** Exactly the named fields; a `?` marks one that may be missing. */
function has(word: Record<string, unknown>, fields: string): boolean {
  const known = fields.split(' ');
  return Object.keys(word).every((key) => known.includes(key) || known.includes(`${key}?`)) && known.every((field) => field.endsWith('?') || Object.hasOwn(word, field));
}

/** A JSON object as the gateway takes it, within `limit` bytes. */
function object(value: unknown, limit: number): JsonObject | null {
  if (!isRecord(value)) return null;
  const check = checkJson(value);
  return check.ok && byteLength(check.text) <= limit ? (check.value as JsonObject) : null;
}

function surface(word: Record<string, unknown>, { events }: Terms): FromFrame | null {
  switch (word.type) {
    case 'ready':
      return has(word, 'type') ? { type: 'ready' } : null;
    case 'resize':
      return has(word, 'type height') && Number.isSafeInteger(word.height) ? { type: 'resize', height: word.height as number } : null;
    case 'event': {
      const { event } = word;
      // `close` is the host's own word, whatever a bundle declares.
      if (!has(word, 'type event data') || typeof event !== 'string' || event === 'close' || !EVENT.test(event) || !(events.has(event) || events.has(EVERY))) return null;
      const data = object(word.data, DATA_BYTES - 1);
      return data && { type: 'event', event, data };
    }
    default:
      return null;
  }
}

function prelude({ type, n }: Record<string, unknown>): FromFrame | null {
  if (type === 'touched') return { type };
  return type === 'pong' && Number.isSafeInteger(n) ? { type, n: n as number } : null;
}

const isName = (value: unknown, most = 64): value is string => typeof value === 'string' && value.length > 0 && value.length <= most;

function app(word: Record<string, unknown>): FromFrame | null {
  const { type, ref, id } = word;
  switch (type) {
    case 'started':
      return has(word, 'type ref') && isName(ref) ? { type, ref } : null;
    case 'progress': {
      const { n, total, message } = word;
      if (!has(word, 'type ref n total? message?') || !isName(ref) || !Number.isFinite(n)) return null;
      const more = { ...(Number.isFinite(total) ? { total: total as number } : {}), ...(typeof message === 'string' ? { message: tidy(message, 200) } : {}) };
      return { type, ref, n: n as number, ...more };
    }
    case 'result':
      return isName(ref) ? result(ref, word) : null;
    case 'request': {
      const { action } = word;
      if (!has(word, 'type id action input') || !isName(id) || typeof action !== 'string' || action.length > 128 || !ACTION.test(action)) return null;
      const input = object(word.input, INPUT_BYTES);
      return input && { type, id, action, input };
    }
    case 'session': {
      const { revision } = word;
      if (!has(word, 'type id revision data') || !isName(id) || !Number.isSafeInteger(revision) || (revision as number) < 0) return null;
      const data = object(word.data, OUTPUT_LIMIT);
      return data && { type, id, revision: revision as number, data };
    }
    default:
      return null;
  }
}

/** A result is never just dropped: somebody waits for it. */
function result(ref: string, word: Record<string, unknown>): FromApp | null {
  const failed = (code: ResultCode, message: string): FromApp => ({ type: 'result', ref, ok: false, error: { code, message } });
  if (word.ok === true && has(word, 'type ref ok output')) {
    const check = checkJson(word.output);
    if (!check.ok) return failed('handler_error', `the handler ran, but its output is not JSON at \`${check.pointer}\`: ${check.reason}`);
    const bytes = byteLength(check.text);
    if (bytes > OUTPUT_LIMIT) return failed('handler_error', `the handler ran, but its output has ${bytes} bytes; ${OUTPUT_LIMIT} are allowed`);
    return { type: 'result', ref, ok: true, output: check.value as Json };
  }
  const { error } = word;
  if (word.ok !== false || !has(word, 'type ref ok error') || !isRecord(error) || typeof error.message !== 'string') return null;
  const { code } = error;
  return failed(typeof code === 'string' && CODES.includes(code) ? (code as ResultCode) : 'handler_error', tidy(error.message, 500) || 'it failed');
}

// ---- how much

export interface Bucket {
  /** False if there is none left. */
  take(): boolean;
}

/** `burst` at once, `perSecond` after that. */
export function createBucket(perSecond: number, burst: number, now: () => number): Bucket {
  let left = burst;
  let at = now();
  return {
    take() {
      const present = now();
      left = Math.min(burst, left + ((present - at) / 1000) * perSecond);
      at = present;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}

export const MIN_HEIGHT = 40;
const STEP = 4;

/**
 * The heights a frame may have, one after the other; undefined changes nothing.
 * A frame that never comes to rest (content as high as its own frame) is left at the height it has.
 */
export function createHeights(max: () => number, now: () => number): (wanted: number) => number | undefined {
  const quick = createBucket(10, 10, now);
  const slow = createBucket(6, 60, now);
  let height: number | undefined;
  let isFrozen = false;
  return (wanted) => {
    const next = Math.max(MIN_HEIGHT, Math.min(wanted, max()));
    if (isFrozen || (height !== undefined && Math.abs(next - height) <= STEP) || !quick.take()) return undefined;
    if (!slow.take()) {
      isFrozen = true;
      return undefined;
    }
    height = next;
    return next;
  };
}

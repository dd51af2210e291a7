/**
 * The only door from socket text to typed frames.
 *
 * Shapes are a table; a frame that does not fit is a refusal, never an exception.
 * Unknown fields are left out of what the rest of the host sees: a host pinned in a
 * site's own bundle must survive a newer gateway, and must not pass on what it cannot judge.
 */

import { APPROVAL_STATES, EFFECTS, RISKS, type ApprovalPayload, type InFrame } from './frames.js';

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

const optionals = new WeakSet<Check>();

const text: Check = (v) => typeof v === 'string';
const flag: Check = (v) => typeof v === 'boolean';
const amount: Check = (v) => typeof v === 'number' && Number.isFinite(v) && v >= 0;
const count: Check = (v) => Number.isSafeInteger(v) && (v as number) >= 0;
const record: Check = (v) => isRecord(v);
const oneOf =
  (values: readonly unknown[]): Check =>
  (v) =>
    values.includes(v);
const list =
  (item: Check): Check =>
  (v) =>
    Array.isArray(v) && v.every(item);
const shape =
  (fields: Shape): Check =>
  (v) =>
    isRecord(v) && fits(v, fields);
const maybe = (check: Check): Check => {
  const wrapped: Check = (v) => check(v);
  optionals.add(wrapped);
  return wrapped;
};

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fits(value: Record<string, unknown>, fields: Shape): boolean {
  return Object.entries(fields).every(([key, check]) =>
    Object.hasOwn(value, key) ? check(value[key]) : optionals.has(check),
  );
}

const FRAMES: { readonly [T in InFrame['type']]: Shape } = {
  welcome: { page: text, epoch: count, resume: text, ping: amount, reauth: amount, in_page: flag },
  caps_ack: {
    seq: count,
    accepted: (v) => isRecord(v) && Object.values(v).every(text),
    rejected: list(shape({ id: text, code: text, pointer: text })),
  },
  invoke: {
    ref: text,
    epoch: count,
    capability: text,
    fingerprint: text,
    input: text,
    approval: maybe(text),
    deadline: amount,
    traceparent: maybe(text),
  },
  ack: { ref: text },
  cancel: { ref: text },
  describe: { id: text, limit: count, offset: count, ids: maybe(list(text)) },
  approve_request: { payload: text, remaining: amount },
  approve_update: { approval: text, state: oneOf(APPROVAL_STATES), code: maybe(text) },
  surface_reply: { id: text, envelope: record },
  action_reply: { id: text, ok: flag, code: maybe(text), message: maybe(text) },
  activity: {
    agents: list(shape({ agent: text, label: text, connected: flag })),
    entries: list(shape({ ref: text, agent: text, capability: text, title: text, state: text, ago: amount })),
    pinned: flag,
    denied: list(shape({ capability: text, title: text, agent: text, remaining: amount })),
  },
  ping: { n: count },
  error: { code: text, message: maybe(text) },
  bye: { why: text },
};

const PAYLOAD: Shape = {
  v: oneOf([1]),
  ref: text,
  approval: text,
  nonce: text,
  capability: text,
  fingerprint: text,
  summary: shape({
    verb: oneOf(['read', 'change', 'delete']),
    object: text,
    agent: text,
    origin: text,
    effect: oneOf(EFFECTS),
    risk: oneOf(RISKS),
    description: text,
    arguments: list(shape({ name: text, value: text, length: maybe(count) })),
    changed: flag,
  }),
  input: text,
  page: text,
  epoch: count,
};

export function parseJson(raw: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(raw) as unknown };
  } catch {
    return null;
  }
}

function pick(value: Record<string, unknown>, fields: Shape): Record<string, unknown> {
  return Object.fromEntries(Object.keys(fields).filter((key) => Object.hasOwn(value, key)).map((key) => [key, value[key]]));
}

export type Parsed = { readonly frame: InFrame } | { readonly refused: string };

/** Turns one text message into a frame, or into the code the page answers with. */
export function parseFrame(raw: string): Parsed {
  const parsed = parseJson(raw);
  if (!parsed) return { refused: 'bad_json' };
  const { value } = parsed;
  if (!isRecord(value) || typeof value.type !== 'string') return { refused: 'bad_frame' };
  if (!Object.hasOwn(FRAMES, value.type)) return { refused: 'unknown_type' };
  const fields = FRAMES[value.type as InFrame['type']];
  if (!fits(value, fields)) return { refused: 'bad_frame' };
  return { frame: { type: value.type, ...pick(value, fields) } as unknown as InFrame };
}

/** Parses what a person is asked to approve; anything short of the whole shape is null. */
export function parsePayload(raw: string): ApprovalPayload | null {
  const value = parseJson(raw)?.value;
  return isRecord(value) && fits(value, PAYLOAD) ? (value as unknown as ApprovalPayload) : null;
}

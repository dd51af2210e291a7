/**
 * The only door from socket text to typed frames.
 *
 * Shapes are a table; a frame that does not fit is a refusal, never an exception.
 * Unknown fields are left out of what the rest of the host sees: a host pinned in a
 * site's own bundle must survive a newer gateway, and must not pass on what it cannot judge.
 */

import type { AppFrame } from './apps.js';
import type { DocumentFrame } from './documents.js';
import type { ApprovalPayload, InFrame } from './frames.js';
import type { PanelFrame } from './panel.js';

/** These have one shape for each of their ops. */
const BY_OP = ['app', 'panel', 'document'] as const;

type Shape =
  | Exclude<InFrame['type'], (typeof BY_OP)[number]>
  | `app.${AppFrame['op']}`
  | `panel.${PanelFrame['op']}`
  | `document.${DocumentFrame['op']}`;

type Nested = 'documentRef' | 'listed' | 'done' | 'agent' | 'entry' | 'denial' | 'rejection' | 'payload' | 'summary' | 'argument';

/**
 * `name:kind`, a `?` after the name if it may be missing.
 * Kinds: `s` text, `n` number from 0, `b` boolean, `o` object, `j` anything, `a|b` one of these words,
 * another row's name, and any of them with `[]` for a list.
 */
const FRAMES: { readonly [T in Shape]: string } = {
  welcome: 'page:s epoch:n resume:s ping:n reauth:n in_page:b',
  caps_ack: 'seq:n accepted:o rejected:rejection[]',
  invoke: 'ref:s epoch:n capability:s fingerprint:s input:s approval?:s deadline:n traceparent?:s',
  ack: 'ref:s',
  cancel: 'ref:s',
  describe: 'id:s limit:n offset:n ids?:s[]',
  approve_request: 'payload:s remaining:n elsewhere?:b',
  approve_update: 'approval:s state:open|agent_left|approved|denied|expired|withdrawn code?:s',
  surface_reply: 'id:s envelope:o',
  action_reply: 'id:s ok:b code?:s message?:s output?:j',
  receipt: 'id:s status:s seq:n reason?:s',
  'app.open':
    'op:s instance:s app:s version:s title:s surface:s sandbox:s bundle:s integrity:s events:s[] handlers:b profile:strict|compat state:o revision:n data:o',
  'app.state': 'op:s instance:s state:o',
  'app.tool': 'op:s instance:s ref:s method:s arguments:s deadline:n',
  'app.cancel': 'op:s instance:s ref:s',
  'app.foreground': 'op:s instance:s agent:s remaining:n',
  'app.data': 'op:s instance:s id:s ok:b revision:n data:o',
  'app.close': 'op:s instance:s reason:s',
  'panel.show': 'op:s item:s kind:s agent:s app:s content:o',
  'panel.close': 'op:s item:s reason:s',
  'panel.refused': 'op:s item:s code:s',
  'document.list': 'op:s max_bytes:n documents:listed[]',
  'document.open':
    'op:s documentRef:documentRef epoch:n seq:n kind:structured|intelligent state:streaming|complete|cancelled agent:s max_bytes:n ui:o actions:done[]',
  'document.patch': 'op:s documentRef:documentRef epoch:n seq:n baseRevision:n operations:o[]',
  'document.end': 'op:s documentRef:documentRef epoch:n seq:n state:complete|cancelled',
  'document.close': 'op:s generation:s reason:s',
  'document.action': 'op:s generation:s requestId:s actionId:s state:waiting|running|done|refused|failed|unknown code?:s',
  activity: 'agents:agent[] entries:entry[] pinned:b denied:denial[]',
  ping: 'n:n',
  error: 'code:s message?:s',
  bye: 'why:s',
};

const PARTS: { readonly [T in Nested]: string } = {
  rejection: 'id:s code:s pointer:s',
  agent: 'agent:s label:s connected:b',
  entry: 'ref:s agent:s capability:s title:s state:s ago:n',
  denial: 'capability:s title:s agent:s remaining:n',
  payload: 'v:n ref:s approval:s nonce:s capability:s fingerprint:s summary:summary input:s page:s epoch:n',
  summary: 'verb:read|change|delete object:s agent:s app?:s origin:s effect:s risk:s description:s reason?:s arguments:argument[] changed:b',
  argument: 'name:s value:s length?:n',
  documentRef: 'call:s generation:s revision:n',
  listed: 'documentRef:documentRef state:streaming|complete|cancelled',
  done: 'requestId:s actionId:s state:waiting|running|done|refused|failed|unknown code?:s',
};

const NAMES: Readonly<Record<string, string>> = { s: 'string', n: 'number', b: 'boolean', o: 'object' };

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fits(value: unknown, kind: string): boolean {
  if (kind.endsWith('[]')) return Array.isArray(value) && value.every((item) => fits(item, kind.slice(0, -2)));
  if (kind.includes('|')) return typeof value === 'string' && kind.split('|').includes(value);
  if (kind === 'j') return true;
  const name = NAMES[kind];
  if (!name) return pick(value, PARTS[kind as Nested]) !== null;
  if (name === 'number') return Number.isFinite(value) && (value as number) >= 0;
  return name === 'object' ? isRecord(value) : typeof value === name;
}

/** The known fields of `value`, or null if one of them is missing or of another kind. */
function pick(value: unknown, row: string): Record<string, unknown> | null {
  if (!isRecord(value)) return null;
  const picked: Record<string, unknown> = {};
  for (const field of row.split(' ')) {
    const [name = '', kind = ''] = field.split(':');
    const key = name.replace('?', '');
    if (Object.hasOwn(value, key)) {
      if (!fits(value[key], kind)) return null;
      picked[key] = value[key];
    } else if (key === name) return null;
  }
  return picked;
}

export function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return undefined;
  }
}

/** Turns one text message into a frame; null is answered with `bad_frame`. */
export function parseFrame(raw: string): InFrame | null {
  const value = parseJson(raw);
  if (!isRecord(value) || typeof value.type !== 'string' || value.type.includes('.')) return null;
  const shape = BY_OP.some((type) => type === value.type) ? `${value.type}.${String(value.op)}` : value.type;
  if (!Object.hasOwn(FRAMES, shape)) return null;
  const fields = pick(value, FRAMES[shape as Shape]);
  return fields && ({ ...fields, type: value.type } as unknown as InFrame);
}

/** Parses what a person is asked to approve; anything short of the whole shape is null. */
export function parsePayload(raw: string): ApprovalPayload | null {
  const payload = pick(parseJson(raw), PARTS.payload);
  return payload?.v === 1 ? (payload as unknown as ApprovalPayload) : null;
}

/** What a page hands in, and the declaration that leaves it. */

import {
  CALL_MODELS,
  CONFIRMS,
  EFFECTS,
  READINESS,
  RISKS,
  type CallModel,
  type Confirm,
  type Declaration,
  type Effect,
  type Readiness,
  type Risk,
} from '../protocol/frames.js';
import { checkJson } from './json.js';

export interface CallContext {
  /** Aborted by a cancel request and at the deadline. */
  readonly signal: AbortSignal;
  /** The gateway's name of this call. */
  readonly ref: string;
  /** Reports how far the work got; `n` must grow. */
  progress(n: number, total?: number, message?: string): void;
}

/** `false` or a text says no; the text tells the agent why. */
export type Verdict = boolean | string | void;

type Awaitable<T> = T | PromiseLike<T>;

export interface Outcome<Input, Output> {
  readonly input: Input;
  readonly output: Output;
  readonly before: unknown;
  readonly after: unknown;
}

// Members are in method form so that a Capability<{text: string}> fits where any capability is taken.
export interface Capability<Input = unknown, Output = unknown> {
  readonly id: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: object | boolean;
  readonly outputSchema?: object | boolean;
  /** What a call does; `write` if left out. */
  readonly effect?: Effect;
  /** Who must agree; `display_only` if left out. */
  readonly risk?: Risk;
  /** `always` asks the person every time; `policy` (default) leaves it to the gateway. */
  readonly confirm?: Confirm;
  readonly readiness?: Readiness;
  readonly callModel?: CallModel;
  readonly contractVersion?: string;
  readonly timeoutMs?: number;
  /** May this run now? Asked before any prompt and before any run. */
  available?(): Awaitable<Verdict>;
  /** Business checks beyond the schema. */
  validate?(input: Input): Awaitable<Verdict>;
  /** A JSON view of the state the action changes; taken before and after. */
  observe?(): unknown;
  handler(input: Input, context: CallContext): Awaitable<Output>;
  /** Waits until the page's state has caught up; by default one turn of the event loop. */
  settle?(): Awaitable<unknown>;
  /** Did it work? `false` or a text turns the result into `not_achieved`. */
  success?(outcome: Outcome<Input, Output>): Awaitable<Verdict>;
  /** What changed, from business state; `{before, after}` if left out and `observe` is there. */
  evidence?(outcome: Outcome<Input, Output>): unknown;
}

export const CAPABILITY_ID = /^[a-z][A-Za-z0-9_]*(\.[a-z][A-Za-z0-9_]*){1,3}$/;

const CHOICES = [
  ['effect', EFFECTS],
  ['risk', RISKS],
  ['confirm', CONFIRMS],
  ['readiness', READINESS],
  ['callModel', CALL_MODELS],
] as const;

/** Judges a capability and takes the snapshot the gateway will see. Throws for the developer, not for the agent. */
export function declare(capability: Capability): Declaration {
  const { id } = capability;
  const refuse = (what: string): never => {
    throw new TypeError(`capability \`${id}\`: ${what}`);
  };
  if (typeof id !== 'string' || id.length > 128 || !CAPABILITY_ID.test(id)) refuse('the id must look like `todo.add`');
  if (typeof capability.description !== 'string' || !capability.description) refuse('a description is needed');
  if (typeof capability.handler !== 'function') refuse('a handler is needed');
  if (typeof capability.inputSchema !== 'object' && typeof capability.inputSchema !== 'boolean') refuse('an inputSchema is needed');
  for (const [field, allowed] of CHOICES) {
    const value = capability[field];
    if (value !== undefined && !(allowed as readonly string[]).includes(value)) {
      refuse(`\`${field}\` must be one of ${allowed.join(', ')}`);
    }
  }
  const fields = {
    id,
    title: capability.title,
    description: capability.description,
    input_schema: capability.inputSchema,
    output_schema: capability.outputSchema,
    effect: capability.effect,
    risk: capability.risk,
    confirm: capability.confirm,
    readiness: capability.readiness,
    call_model: capability.callModel,
    contract_version: capability.contractVersion,
    timeout_ms: capability.timeoutMs,
  };
  const check = checkJson(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
  return check.ok ? (check.value as unknown as Declaration) : refuse(`\`${check.pointer}\` is ${check.reason}`);
}

/** What a page hands in, and the declaration that leaves it. */

import type { CallModel, Confirm, Declaration, Effect, Readiness, Risk } from '../protocol/frames.js';
import { byteLength, checkJson } from './json.js';

export interface CallContext {
  /** Aborted by a cancel request and at the deadline. */
  readonly signal: AbortSignal;
  /** The gateway's name of this call. */
  readonly ref: string;
  /** The place in the caller's trace (W3C `traceparent`), where it named one. */
  readonly traceparent?: string;
  /** Names the span this page did the work in, so that the gateway's trace leads to it. */
  trace(traceparent: string): void;
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
export const DECLARATION_LIMIT = 16 * 1024;

/** What leaves the page. On the wire each name is in snake case. */
const FIELDS = [
  'id',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'effect',
  'risk',
  'confirm',
  'readiness',
  'callModel',
  'contractVersion',
  'timeoutMs',
] as const satisfies readonly (keyof Capability)[];

/**
 * Takes the snapshot the gateway will judge. Throws for the developer, not for the agent;
 * what only the gateway can judge (schemas, reserved names) comes back as `rejected`.
 */
export function declare(capability: Capability): { readonly declaration: Declaration; readonly text: string } {
  const { id } = capability;
  const refuse = (what: string): never => {
    throw new TypeError(`capability \`${id}\`: ${what}`);
  };
  if (typeof id !== 'string' || id.length > 128 || !CAPABILITY_ID.test(id)) refuse('the id must look like `todo.add`');
  if (!capability.description || capability.inputSchema === undefined) refuse('a description and an inputSchema are needed');
  if (typeof capability.handler !== 'function') refuse('a handler is needed');
  const fields: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value = capability[name];
    if (value !== undefined) fields[name.replace(/[A-Z]/, (letter) => '_' + letter.toLowerCase())] = value;
  }
  const check = checkJson(fields);
  if (!check.ok) return refuse(`\`${check.pointer}\` is ${check.reason}`);
  if (byteLength(check.text) > DECLARATION_LIMIT) refuse(`its declaration is over ${DECLARATION_LIMIT} bytes`);
  return { declaration: check.value as unknown as Declaration, text: check.text };
}

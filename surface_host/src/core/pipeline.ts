/**
 * One call on the page, from frame to answer:
 * availability → arguments → handler → settle → success criterion → evidence.
 *
 * Confirmation is not a step here: the approval came before the call, and after it nobody is asked again.
 */

import type { Json, RefusedWhy, ResultCode } from '../protocol/frames.js';
import type { Capability, Verdict } from './capability.js';
import { byteLength, checkJson, messageOf, tidy } from './json.js';

/** The gateway's limit for one page result. */
export const OUTPUT_LIMIT = 512 * 1024;
const EVIDENCE_LIMIT = 256 * 1024;

export interface Refusal {
  readonly why: RefusedWhy;
  readonly message?: string;
}

export type Ending =
  | { readonly ok: true; readonly output: Json; readonly evidence?: Json }
  | { readonly ok: false; readonly code: ResultCode; readonly message: string };

const no = (verdict: Verdict): string | undefined =>
  verdict === false ? '' : typeof verdict === 'string' ? tidy(verdict, 500) : undefined;

const refusal = (why: RefusedWhy, message: string): Refusal => (message ? { why, message } : { why });

/** The checks that run before a prompt and again before a run. Null means: go on. */
export async function precheck(capability: Capability, input: unknown): Promise<Refusal | null> {
  try {
    const verdict = no(await capability.available?.());
    if (verdict !== undefined) return refusal('not_available', verdict);
  } catch (error) {
    return refusal('not_available', messageOf(error));
  }
  try {
    const verdict = no(await capability.validate?.(input));
    if (verdict !== undefined) return refusal('arguments_invalid', verdict);
  } catch (error) {
    return refusal('arguments_invalid', messageOf(error));
  }
  return null;
}

export interface RunOptions {
  /** The arguments as text: every step gets a copy of its own. */
  readonly input: string;
  readonly ref: string;
  readonly traceparent?: string;
  readonly trace: (traceparent: string) => void;
  readonly signal: AbortSignal;
  readonly progress: (n: number, total?: number, message?: string) => void;
  /** Waits one turn of the event loop without a timer or an animation frame. */
  readonly settle: () => Promise<unknown>;
}

const fail = (code: ResultCode, message: string): Ending => ({ ok: false, code, message: message || code });

/** A frozen-in-time copy, or the live value where it is not JSON (evidence then says so). */
const snapshot = (value: unknown): unknown => {
  const check = checkJson(value);
  return check.ok ? check.value : value;
};

export async function run(capability: Capability, options: RunOptions): Promise<Ending> {
  const input = (): unknown => JSON.parse(options.input) as unknown;
  const { signal, ref, traceparent, trace } = options;
  const place = traceparent === undefined ? {} : { traceparent };
  // Browsers tell with this name that the person put a picker or a prompt aside.
  const isGivenUp = (error: unknown): boolean => signal.aborted || (error as { name?: unknown } | null)?.name === 'AbortError';
  const thrown = (error: unknown): Ending => fail(isGivenUp(error) ? 'cancelled' : 'handler_error', messageOf(error));

  let before: unknown;
  let returned: unknown;
  try {
    before = snapshot(await capability.observe?.());
    if (signal.aborted) return fail('cancelled', 'cancelled before the handler ran');
    returned = await capability.handler(input(), { signal, ref, ...place, trace, progress: growing(options.progress) });
  } catch (error) {
    return thrown(error);
  }

  // From here on the action has happened: what goes wrong now must not hide that from the agent.
  // A handler that returns nothing says `null`; inside a value, undefined is refused.
  const output = checkJson(returned === undefined ? null : returned);
  if (!output.ok) return fail('handler_error', `the action ran, but its output is not JSON at \`${output.pointer}\`: ${output.reason}`);
  const bytes = byteLength(output.text);
  if (bytes > OUTPUT_LIMIT) return fail('handler_error', `the action ran, but its output has ${bytes} bytes; ${OUTPUT_LIMIT} are allowed`);

  let after: unknown;
  try {
    await (capability.settle ? capability.settle() : options.settle());
    after = snapshot(await capability.observe?.());
    const verdict = no(await capability.success?.({ input: input(), output: output.value, before, after }));
    if (verdict !== undefined) return fail('not_achieved', verdict || 'the page could not confirm the outcome');
  } catch (error) {
    return fail('not_achieved', 'the outcome could not be confirmed: ' + messageOf(error));
  }

  const evidence = await collect(capability, { input: input(), output: output.value, before, after });
  return evidence === undefined ? { ok: true, output: output.value } : { ok: true, output: output.value, evidence };
}

type Facts = Parameters<NonNullable<Capability['evidence']>>[0];

/** Evidence that cannot be sent is replaced by a visible note; the business result stands. */
async function collect(capability: Capability, facts: Facts): Promise<Json | undefined> {
  if (!capability.evidence && !capability.observe) return undefined;
  try {
    const raw = capability.evidence ? await capability.evidence(facts) : { before: facts.before, after: facts.after };
    if (raw === undefined) return undefined;
    const check = checkJson(raw);
    if (!check.ok) return { omitted: `not JSON at \`${check.pointer}\`: ${check.reason}` };
    return byteLength(check.text) > EVIDENCE_LIMIT ? { omitted: `larger than ${EVIDENCE_LIMIT} bytes` } : check.value;
  } catch (error) {
    return { omitted: messageOf(error) };
  }
}

/** Lets through only what the wire allows: finite and growing. */
function growing(send: RunOptions['progress']): RunOptions['progress'] {
  let last = -Infinity;
  return (n, total, message) => {
    if (!Number.isFinite(n) || n <= last) return;
    last = n;
    send(n, total !== undefined && Number.isFinite(total) ? total : undefined, message === undefined ? undefined : tidy(String(message), 200));
  };
}

/**
 * Every call this document is asked to do: at most once per ref, only what was declared,
 * only what was approved, and an answer that is never lost.
 */

import type { ApprovalPayload, InvokeFrame, OutFrame, RefusedWhy } from '../protocol/frames.js';
import { parseJson } from '../protocol/guards.js';
import type { PromptQueue } from './approvals.js';
import { byteLength, messageOf, sameJson } from './json.js';
import { createOutbox, type Answer } from './outbox.js';
import { precheck, run, type Ending, type Refusal } from './pipeline.js';
import type { Registration, Registry } from './registry.js';

/** A frame above this is refused by the gateway. */
export const FRAME_LIMIT = 1.25 * 1024 * 1024;

export interface CallPorts {
  readonly registry: Registry;
  readonly prompts: PromptQueue;
  readonly fingerprint: (registration: Registration) => string | undefined;
  /** Undefined before the first welcome. */
  readonly epoch: () => number | undefined;
  readonly page: () => string | undefined;
  readonly send: (frame: OutFrame) => void;
  readonly settle: () => Promise<unknown>;
  readonly sha256: (text: string) => Promise<string>;
  /** Runs `task` after `ms`; returns how to call it off. */
  readonly later: (ms: number, task: () => void) => () => void;
}

export interface Calls {
  invoke(frame: InvokeFrame): Promise<void>;
  cancel(ref: string): void;
  ack(ref: string): void;
  /** `elsewhere`: the work is not this page's, so no capability here is asked before the person is. */
  approveRequest(payload: ApprovalPayload, text: string, remaining: number, elsewhere?: boolean): Promise<void>;
  /** Sends again what the gateway may have missed. */
  resume(): void;
  seen(): string[];
  /** The page session is another one: nothing of the former may reach it. */
  abandon(): void;
}

interface Checked {
  readonly registration: Registration;
  readonly input: unknown;
}

type Expected = Pick<InvokeFrame, 'ref' | 'epoch' | 'capability' | 'fingerprint' | 'input'>;

export function createCalls(ports: CallPorts): Calls {
  const { registry, prompts, send } = ports;
  const outbox = createOutbox();
  const running = new Map<string, AbortController>();
  const asking = new Set<string>();

  const answer = (frame: Answer): void => {
    outbox.settle(frame);
    if (outbox.known(frame.ref) === frame) send(frame);
  };

  const refuse = (ref: string, refusal: Refusal): void => answer({ type: 'refused', ref, ...refusal });

  const check = (frame: Expected): Checked | RefusedWhy => {
    if (frame.epoch !== ports.epoch()) return 'stale_epoch';
    const registration = registry.find(frame.capability);
    if (!registration) return 'unknown_capability';
    if (ports.fingerprint(registration) !== frame.fingerprint) return 'stale_fingerprint';
    try {
      return { registration, input: JSON.parse(frame.input) as unknown };
    } catch {
      return 'arguments_invalid';
    }
  };

  /** An approval this document decided binds the call to what was on the screen. */
  const consent = (frame: InvokeFrame, registration: Registration): RefusedWhy | null => {
    const prompt = frame.approval === undefined ? undefined : prompts.find(frame.approval);
    if (!prompt) return registration.declaration.confirm === 'always' ? 'approval_missing' : null;
    const { payload } = prompt;
    if (payload.input !== frame.input) return 'input_differs';
    const same = payload.ref === frame.ref && payload.capability === frame.capability && payload.fingerprint === frame.fingerprint;
    return same && prompt.decision?.decision === 'approve' ? null : 'approval_missing';
  };

  const finish = (frame: InvokeFrame, ending: Ending, span?: string): void => {
    const { ref, epoch } = frame;
    const place = span === undefined ? {} : { traceparent: span };
    const failed = (code: Extract<Ending, { ok: false }>['code'], message: string): Answer => ({
      type: 'result',
      ref,
      epoch,
      ok: false,
      error: { code, message },
      ...place,
    });
    if (!ending.ok) return answer(failed(ending.code, ending.message));
    const { ok, output, evidence } = ending;
    const result: Answer = { type: 'result', ref, epoch, ok, output, ...(evidence === undefined ? {} : { evidence }), ...place };
    const bytes = byteLength(JSON.stringify(result));
    answer(bytes > FRAME_LIMIT ? failed('handler_error', `the action ran, but its result frame has ${bytes} bytes`) : result);
  };

  return {
    async invoke(frame) {
      const { ref } = frame;
      if (!outbox.admit(ref)) {
        const known = outbox.known(ref);
        if (known === 'started') send({ type: 'started', ref });
        else if (typeof known === 'object') send(known);
        return;
      }
      const checked = check(frame);
      if (typeof checked === 'string') return refuse(ref, { why: checked });
      const { registration, input } = checked;
      const why = consent(frame, registration);
      if (why) return refuse(ref, { why });

      const controller = new AbortController();
      let span: string | undefined;
      running.set(ref, controller);
      const stopClock = ports.later(frame.deadline, () => controller.abort(new Error('the deadline passed')));
      try {
        const refusal = await precheck(registration.capability, input);
        if (refusal) return refuse(ref, refusal);
        if (controller.signal.aborted) return finish(frame, { ok: false, code: 'cancelled', message: 'cancelled before it started' });
        outbox.started(ref);
        send({ type: 'started', ref });
        const progress = (n: number, total?: number, message?: string): void => {
          if (!running.has(ref)) return;
          send({ type: 'progress', ref, n, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message }) });
        };
        const { input: text, traceparent } = frame;
        const place = traceparent === undefined ? {} : { traceparent };
        const trace = (own: string): void => void (span = String(own).slice(0, 256));
        const { signal } = controller;
        finish(frame, await run(registration.capability, { input: text, ref, ...place, trace, signal, progress, settle: ports.settle }), span);
      } catch (error) {
        finish(frame, { ok: false, code: 'handler_error', message: messageOf(error) }, span);
      } finally {
        stopClock();
        running.delete(ref);
      }
    },

    cancel(ref) {
      running.get(ref)?.abort(new Error('cancelled'));
    },

    ack: (ref) => outbox.ack(ref),

    async approveRequest(payload, text, remaining, elsewhere = false) {
      const { approval, ref } = payload;
      const known = prompts.find(approval);
      if (known || asking.has(approval)) {
        // The same request again: an answer already given is given again, an open prompt stays.
        if (known?.decision) send(decisionFrame(known.payload, known.sha256, known.decision));
        return;
      }
      const no = (why: RefusedWhy, message?: string): void => send({ type: 'refused', ref, why, ...(message ? { message } : {}) });
      asking.add(approval);
      try {
        const checked = elsewhere ? null : check(payload);
        if (typeof checked === 'string') return no(checked);
        const input = checked ? checked.input : parseJson(payload.input);
        if (!showsInput(payload, input)) return no('arguments_invalid', 'the shown arguments are not the input');
        const refusal = checked && (await precheck(checked.registration.capability, input));
        if (refusal) return no(refusal.why, refusal.message);
        const sha256 = await ports.sha256(text);
        // Judged last: the socket may have come back as another page session while the page was asked.
        if (payload.epoch !== ports.epoch() || payload.page !== ports.page()) return no('stale_epoch');
        prompts.add(payload, sha256, remaining);
        ports.later(remaining, () => prompts.event(approval, 'time_up'));
      } catch (error) {
        no('not_available', messageOf(error));
      } finally {
        asking.delete(approval);
      }
    },

    resume() {
      for (const frame of outbox.unsent()) send(frame);
      for (const { payload, sha256, decision, state } of prompts.open()) {
        if (state === 'sending' && decision) send(decisionFrame(payload, sha256, decision));
      }
    },

    seen: () => outbox.seen(),

    abandon() {
      outbox.forgetAnswers();
      for (const controller of running.values()) controller.abort(new Error('the page session ended'));
      running.clear();
    },
  };
}

export function decisionFrame(
  payload: ApprovalPayload,
  sha256: string,
  decision: { readonly decision: 'approve' | 'deny'; readonly visible: boolean },
): Extract<OutFrame, { type: 'decision' }> {
  const { approval, nonce } = payload;
  return { type: 'decision', approval, nonce, sha256, ...decision };
}

/** INVARIANT: what the dialog lists is what the handler will get, argument by argument. */
function showsInput({ summary }: ApprovalPayload, input: unknown): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return false;
  try {
    const shown = Object.fromEntries(summary.arguments.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
    return Object.keys(shown).length === summary.arguments.length && sameJson(shown, input);
  } catch {
    return false;
  }
}

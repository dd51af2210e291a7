/**
 * Tool calls of frames: at most once per ref in this document, and an answer that is never lost.
 *
 * The same promises as for the page's own capabilities, kept for handlers that live in a frame and may go with it.
 */

import { createOutbox } from '../core/index.js';
import type { AppNewsFrame, AppToolFrame, JsonObject, ToolResultFrame } from '../protocol/apps.js';
import type { ResultCode } from '../protocol/frames.js';
import { isRecord, parseJson } from '../protocol/guards.js';
import type { FromApp, ToApp } from '../sandbox/words.js';

export interface ToolPorts {
  readonly send: (frame: AppNewsFrame) => void;
  /** False if the instance has no frame that could be called. */
  readonly tell: (instance: string, message: ToApp) => boolean;
  readonly later: (ms: number, task: () => void) => () => void;
}

export interface Tools {
  call(frame: AppToolFrame): void;
  cancel(instance: string, ref: string): void;
  /** What a frame says of a call; false if it has none of that name. */
  hear(instance: string, word: Extract<FromApp, { type: 'started' | 'progress' | 'result' }>): boolean;
  ack(ref: string): void;
  /** The frame is gone, and nobody will ever know what came of these. True if there were any. */
  lost(instance: string): boolean;
  unsent(): ToolResultFrame[];
  seen(): string[];
  abandon(): void;
}

export function createTools({ send, tell, later }: ToolPorts): Tools {
  const outbox = createOutbox<ToolResultFrame>();
  const running = new Map<string, { readonly instance: string; readonly stopClock: () => void }>();

  const settle = (result: ToolResultFrame): void => {
    running.get(result.ref)?.stopClock();
    running.delete(result.ref);
    outbox.settle(result);
    if (outbox.known(result.ref) === result) send(result);
  };
  const fail = (instance: string, ref: string, code: ResultCode, message: string): void =>
    settle({ type: 'app_news', instance, what: 'result', ref, ok: false, error: { code, message } });

  return {
    call({ instance, ref, method, arguments: text, deadline }) {
      if (!outbox.admit(ref)) {
        const known = outbox.known(ref);
        if (known === 'started') send({ type: 'app_news', instance, what: 'started', ref });
        else if (typeof known === 'object') send(known);
        return;
      }
      const input = parseJson(text);
      if (!isRecord(input)) return fail(instance, ref, 'arguments_invalid', 'the arguments are no object');
      if (!tell(instance, { type: 'call', ref, method, arguments: input as JsonObject })) {
        return fail(instance, ref, 'not_available', 'the mini app has no frame here');
      }
      running.set(ref, { instance, stopClock: later(deadline, () => tell(instance, { type: 'cancel', ref })) });
    },
    cancel(instance, ref) {
      if (running.get(ref)?.instance === instance) tell(instance, { type: 'cancel', ref });
    },
    hear(instance, word) {
      // INVARIANT: a frame answers only what was handed to it.
      if (running.get(word.ref)?.instance !== instance) return false;
      const place = { type: 'app_news', instance } as const;
      if (word.type === 'started') {
        outbox.started(word.ref);
        send({ ...place, what: 'started', ref: word.ref });
      } else if (word.type === 'progress') {
        const { type: _, ...rest } = word;
        send({ ...place, what: 'progress', ...rest });
      } else if (word.ok) settle({ ...place, what: 'result', ref: word.ref, ok: true, output: word.output });
      else settle({ ...place, what: 'result', ref: word.ref, ok: false, error: word.error });
      return true;
    },
    ack: (ref) => outbox.ack(ref),
    lost(instance) {
      const refs = [...running].filter(([, call]) => call.instance === instance);
      for (const [ref, { stopClock }] of refs) {
        stopClock();
        running.delete(ref);
      }
      return refs.length > 0;
    },
    unsent: () => outbox.unsent(),
    seen: () => outbox.seen(),
    abandon() {
      outbox.forgetAnswers();
      for (const { stopClock } of running.values()) stopClock();
      running.clear();
    },
  };
}

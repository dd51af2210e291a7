/**
 * What this document knows about every call it ever received.
 *
 * One ref runs at most once per document. Answers are kept until the gateway has stored them,
 * and are sent again after a reconnect.
 */

import type { RefusedFrame, ResultFrame } from '../protocol/frames.js';

export type Answer = ResultFrame | RefusedFrame;

/** What an outbox needs to know of an answer. */
export interface Answering {
  readonly type: string;
  readonly ref: string;
}

export type Known<A> = 'checking' | 'started' | A;

const SEEN_LIMIT = 256;
const KEPT_BODIES = 64;

export interface Outbox<A extends Answering> {
  /** True exactly once per ref: the caller may go on. */
  admit(ref: string): boolean;
  known(ref: string): Known<A> | undefined;
  started(ref: string): void;
  settle(answer: A): void;
  ack(ref: string): void;
  /** Frames to send after a reconnect, oldest first. */
  unsent(): A[];
  /** For `hello.seen`: everything unsettled, then the newest. */
  seen(): string[];
  /** A new page session must never carry answers of the former one. */
  forgetAnswers(): void;
}

interface Entry<A> {
  state: Known<A> | 'forgotten';
  /** A result waits for its ack. A refusal has no ack: it is repeated on the next connection only. */
  pending: boolean;
}

export function createOutbox<A extends Answering = Answer>(): Outbox<A> {
  const entries = new Map<string, Entry<A>>();
  const acked: string[] = [];

  const isAnswer = (state: Entry<A>['state']): state is A => typeof state === 'object';

  return {
    admit(ref) {
      if (entries.has(ref)) return false;
      entries.set(ref, { state: 'checking', pending: false });
      return true;
    },
    known(ref) {
      const state = entries.get(ref)?.state;
      return state === 'forgotten' ? 'started' : state;
    },
    started(ref) {
      const entry = entries.get(ref);
      if (entry?.state === 'checking') entry.state = 'started';
    },
    settle(answer) {
      const entry = entries.get(answer.ref);
      // INVARIANT: one answer per ref, the first.
      if (!entry || isAnswer(entry.state) || entry.state === 'forgotten') return;
      entry.state = answer;
      entry.pending = true;
    },
    ack(ref) {
      const entry = entries.get(ref);
      if (!entry?.pending) return;
      entry.pending = false;
      acked.push(ref);
      const oldest = acked.length > KEPT_BODIES ? entries.get(acked.shift() ?? '') : undefined;
      // The ref stays for ever, so nothing runs twice; only the body goes.
      if (oldest) oldest.state = 'forgotten';
    },
    unsent() {
      const frames: A[] = [];
      for (const entry of entries.values()) {
        if (!entry.pending || !isAnswer(entry.state)) continue;
        frames.push(entry.state);
        if (entry.state.type === 'refused') entry.pending = false;
      }
      return frames;
    },
    seen() {
      const refs = [...entries.keys()];
      const open = refs.filter((ref) => {
        const entry = entries.get(ref);
        return entry && (entry.pending || !isAnswer(entry.state)) && entry.state !== 'forgotten';
      });
      return [...new Set([...open.reverse(), ...refs.reverse()])].slice(0, SEEN_LIMIT);
    },
    forgetAnswers() {
      // Work still running is forgotten too: its answer belongs to nobody any more.
      for (const entry of entries.values()) {
        entry.state = 'forgotten';
        entry.pending = false;
      }
    },
  };
}

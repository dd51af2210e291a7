/** Keeps the gateway's picture of the capabilities up to date: one snapshot in flight, changes in between fall into the next. */

import { createDeclarations, type Registration } from '../core/index.js';
import type { CapsAckFrame, OutFrame, Rejected } from '../protocol/frames.js';
import { later } from './platform.js';

/** An answer that never comes must not silence the page for good. */
const ANSWER_WITHIN_MS = 5000;

interface PublisherPorts {
  /** False if there is no connection. */
  readonly send: (frame: OutFrame) => boolean;
  readonly onRejected: (rejected: readonly Rejected[]) => void;
}

export interface Publisher {
  changed(): void;
  connected(): void;
  disconnected(): void;
  acknowledged(frame: CapsAckFrame): void;
  fingerprint(registration: Registration): string | undefined;
}

export function createPublisher(
  all: () => readonly Registration[],
  hosted: ReadonlyMap<string, Registration>,
  { send, onRejected }: PublisherPorts,
): Publisher {
  const declarations = createDeclarations(all, onRejected, hosted);
  let online = false;
  let queued = false;
  let stopClock = (): void => undefined;

  const flush = (): void => {
    queued = false;
    if (!online || declarations.waiting) return;
    const frames = declarations.snapshot();
    if (!frames.length) return;
    frames.forEach(send);
    stopClock();
    stopClock = later(ANSWER_WITHIN_MS, connected);
  };
  const changed = (): void => {
    if (queued) return;
    queued = true;
    queueMicrotask(flush);
  };
  function connected(): void {
    online = true;
    declarations.reconnect();
    changed();
  }

  return {
    changed,
    connected,
    disconnected() {
      online = false;
      stopClock();
    },
    acknowledged(frame) {
      if (!declarations.ack(frame)) return;
      stopClock();
      changed();
    },
    fingerprint: declarations.fingerprint,
  };
}

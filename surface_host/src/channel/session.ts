/**
 * What lets a reloaded tab continue its page session: a secret in sessionStorage,
 * guarded by a Web Lock because a duplicated tab gets a copy of it.
 */

import { isRecord, parseJson } from '../protocol/guards.js';

export interface Session {
  /** The secret, if this tab is the one that owns it. */
  claim(): Promise<string | undefined>;
  store(page: string, resume: string): void;
  /** Hands the session to the next document of this tab. */
  release(): void;
  /** May this document take its session back after it was replaced? */
  readonly newest: boolean;
}

/** A reload can overlap its predecessor's last moments; a duplicated tab stays longer. */
const HANDOVER_MS = 250;

export function createSession(key: string, doc: string): Session {
  let memory: string | null = null;
  let held: { readonly page: string; readonly free: () => void } | undefined;

  // Storage throws where the browser blocks site data; the session then lasts one document.
  const read = (): Record<string, unknown> => {
    try {
      memory = sessionStorage.getItem(key);
    } catch {
      /* memory it is */
    }
    const value = memory === null ? null : parseJson(memory);
    return isRecord(value) ? value : {};
  };

  const write = (value: object): void => {
    memory = JSON.stringify(value);
    try {
      sessionStorage.setItem(key, memory);
    } catch {
      /* memory it is */
    }
  };

  const lock = (page: string): Promise<boolean> =>
    new Promise((resolve) => {
      // Absent outside secure contexts; then nothing can tell a duplicate.
      if (!navigator.locks) return resolve(true);
      const hold = (granted: Lock | null): Promise<void> | null => {
        resolve(granted !== null);
        return granted && new Promise<void>((free) => {
          held?.free();
          held = { page, free };
        });
      };
      // Sandboxed documents have the interface and may not use it.
      navigator.locks.request(`ostiary:${page}`, { ifAvailable: true }, hold).catch(() => resolve(true));
    });

  return {
    async claim() {
      const { page, resume } = read();
      if (typeof page !== 'string' || typeof resume !== 'string') return undefined;
      if (held?.page === page || (await lock(page))) return resume;
      await new Promise((resolve) => setTimeout(resolve, HANDOVER_MS));
      if (await lock(page)) return resume;
      write({});
      return undefined;
    },
    store(page, resume) {
      write({ page, resume, doc });
      if (held?.page !== page) void lock(page);
    },
    release() {
      held?.free();
      held = undefined;
    },
    get newest() {
      const { doc: owner } = read();
      return owner === undefined || owner === doc;
    },
  };
}

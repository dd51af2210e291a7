/**
 * What lets a reloaded tab continue its page session: a secret in sessionStorage,
 * guarded by a Web Lock because a duplicated tab gets a copy of it.
 */

import { isRecord, parseJson } from '../protocol/guards.js';

interface Stored {
  readonly page: string;
  readonly resume: string;
  readonly doc: string;
}

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
  const read = (): Stored | undefined => {
    let raw = memory;
    try {
      raw = sessionStorage.getItem(key);
    } catch {
      /* memory it is */
    }
    const value = raw === null ? undefined : parseJson(raw)?.value;
    if (!isRecord(value)) return undefined;
    const { page, resume, doc: owner } = value;
    return typeof page === 'string' && typeof resume === 'string' && typeof owner === 'string' ? { page, resume, doc: owner } : undefined;
  };

  const write = (value: Stored | null): void => {
    memory = value && JSON.stringify(value);
    try {
      if (memory === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, memory);
    } catch {
      /* memory it is */
    }
  };

  const lock = (page: string): Promise<boolean> =>
    new Promise((resolve) => {
      // Absent outside secure contexts; then nothing can tell a duplicate.
      if (!navigator.locks) return resolve(true);
      navigator.locks
        .request(`ostiary:${page}`, { ifAvailable: true }, (granted) => {
          resolve(granted !== null);
          if (!granted) return undefined;
          return new Promise<void>((free) => {
            held?.free();
            held = { page, free };
          });
        })
        .catch(() => resolve(true));
    });

  const release = (): void => {
    held?.free();
    held = undefined;
  };

  return {
    async claim() {
      const stored = read();
      if (!stored) return undefined;
      if (held?.page === stored.page) return stored.resume;
      if (await lock(stored.page)) return stored.resume;
      await new Promise((resolve) => setTimeout(resolve, HANDOVER_MS));
      if (await lock(stored.page)) return stored.resume;
      write(null);
      return undefined;
    },
    store(page, resume) {
      write({ page, resume, doc });
      if (held?.page !== page) void lock(page);
    },
    release,
    get newest() {
      const stored = read();
      return stored === undefined || stored.doc === doc;
    },
  };
}

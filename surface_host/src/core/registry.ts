/**
 * Which capability answers to an id right now.
 *
 * Ownership belongs to the registration, not to the name: the newest registration of an id
 * answers, and disposing an older one changes nothing.
 */

import type { Declaration } from '../protocol/frames.js';
import { declare, type Capability } from './capability.js';

export interface Registration {
  readonly capability: Capability;
  readonly declaration: Declaration;
  /** The declaration as text: two registrations with equal text share one fingerprint. */
  readonly text: string;
}

export interface Registry {
  register(capability: Capability, options?: { readonly signal?: AbortSignal }): () => void;
  find(id: string): Registration | undefined;
  all(): Registration[];
}

export function createRegistry(onChange: () => void): Registry {
  const current = new Map<string, Registration>();

  return {
    register(capability, options) {
      const { declaration, text } = declare(capability);
      const signal = options?.signal;
      if (signal?.aborted) return () => undefined;
      const registration: Registration = { capability, declaration, text };
      current.set(declaration.id, registration);
      onChange();

      const dispose = (): void => {
        signal?.removeEventListener('abort', dispose);
        // INVARIANT: a late goodbye never takes a newer registration with it.
        if (current.get(declaration.id) !== registration) return;
        current.delete(declaration.id);
        onChange();
      };
      signal?.addEventListener('abort', dispose, { once: true });
      return dispose;
    },
    find: (id) => current.get(id),
    all: () => [...current.values()],
  };
}

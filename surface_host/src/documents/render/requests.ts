/**
 * The invokes of one document that are on their way.
 *
 * INVARIANT: one gesture of a person makes one request. Going again after a network failure sends that very request, with
 * its id and values; there is no second id before the first has an answer.
 */

import type { State } from '../types.js';

export interface InvokeRequest {
  readonly actionId: string;
  readonly requestId: string;
  readonly values: State;
}

/** What came of a request, as far as the document may know; who asked is told more by the page's panel. */
export interface InvokeAnswer {
  readonly ok: boolean;
  /** The fields of the result that may be shown. */
  readonly result?: State;
}

/** Carries a request to the gateway. Rejects only if it is not known to have arrived: the same request may then go again. */
export type Dispatch = (request: InvokeRequest) => Promise<InvokeAnswer>;

export interface RequestOptions {
  readonly dispatch: Dispatch;
  readonly newId: () => string;
  readonly onChange: () => void;
  readonly onAnswer: (actionId: string, answer: InvokeAnswer) => void;
}

type Going = { readonly request: InvokeRequest; isUnsent: boolean };

export interface Requests {
  state(actionId: string): 'ready' | 'sending' | 'unsent';
  begin(actionId: string, values: State): void;
  again(actionId: string): void;
  /** Nothing that comes back matters any more. */
  abandon(): void;
}

export function createRequests({ dispatch, newId, onChange, onAnswer }: RequestOptions): Requests {
  const going = new Map<string, Going>();

  const send = async (entry: Going): Promise<void> => {
    const { actionId } = entry.request;
    entry.isUnsent = false;
    onChange();
    let answer: InvokeAnswer | undefined;
    try {
      answer = await dispatch(entry.request);
    } catch {
      // It may or may not have arrived; the panel learns from the receipts which.
    }
    if (going.get(actionId) !== entry) return;
    if (answer) {
      going.delete(actionId);
      onAnswer(actionId, answer);
    } else {
      entry.isUnsent = true;
    }
    onChange();
  };

  return {
    state(actionId) {
      const entry = going.get(actionId);
      if (!entry) return 'ready';
      return entry.isUnsent ? 'unsent' : 'sending';
    },
    begin(actionId, values) {
      if (going.has(actionId)) return;
      const entry = { request: { actionId, requestId: newId(), values }, isUnsent: false };
      going.set(actionId, entry);
      void send(entry);
    },
    again(actionId) {
      const entry = going.get(actionId);
      if (entry?.isUnsent) void send(entry);
    },
    abandon: () => going.clear(),
  };
}

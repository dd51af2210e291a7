/** Listeners by event name. A listener that throws is reported and stops nobody else. */

export interface Emitter<Events> {
  on<E extends keyof Events>(event: E, listener: (detail: Events[E]) => void): () => void;
  emit<E extends keyof Events>(event: E, detail: Events[E]): void;
}

export function createEmitter<Events>(): Emitter<Events> {
  const listeners: { [E in keyof Events]?: Set<(detail: Events[E]) => void> } = {};
  return {
    on(event, listener) {
      const set = (listeners[event] ??= new Set());
      // Wrapped, so that the same function added twice is removed one at a time.
      const entry: typeof listener = (detail) => listener(detail);
      set.add(entry);
      return () => {
        set.delete(entry);
      };
    },
    emit(event, detail) {
      for (const listener of [...(listeners[event] ?? [])]) {
        try {
          listener(detail);
        } catch (error) {
          reportError(error);
        }
      }
    },
  };
}

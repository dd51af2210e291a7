/** Answers `describe` from the page's records and the availability of its capabilities. */

import { byteLength, FRAME_LIMIT, messageOf, unavailableOf, windowOf, type ContextSource, type Registration } from '../core/index.js';
import type { ContextWindow, DescribeFrame, OutFrame } from '../protocol/frames.js';

export function createDescriber(
  all: () => readonly Registration[],
  context: () => ContextSource | undefined,
  send: (frame: OutFrame) => unknown,
  onError: (message: string) => void,
): (frame: DescribeFrame) => Promise<void> {
  return async ({ id, limit, offset, ids }) => {
    const unavailable = await unavailableOf(all().map(({ capability }) => capability));
    const source = context();
    const answer = (window: ContextWindow | null): OutFrame => ({ type: 'described', id, context: window, unavailable });
    let best = answer(null);
    try {
      // Fewer records fit where all do not; the window then says how many came.
      for (let most = limit; source; most >>= 1) {
        const full = answer(windowOf(source, { offset, limit: most, ...(ids && { ids }) }));
        const fits = byteLength(JSON.stringify(full)) <= FRAME_LIMIT;
        if (fits) best = full;
        if (fits || !most) break;
      }
    } catch (error) {
      onError(messageOf(error));
    }
    send(best);
  };
}

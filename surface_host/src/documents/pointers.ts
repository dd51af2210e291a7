/** RFC 6901 pointers no longer than a message may carry. */

import { LIMITS } from './table.js';

/** One segment, with its slash. */
export const segment = (key: string | number): string => '/' + String(key).replace(/~/g, '~0').replace(/\//g, '~1');

/** The pointer, or that of its nearest ancestor that fits: a segment is never cut in two. */
export function cut(pointer: string): string {
  if (pointer.length <= LIMITS.pointer) return pointer;
  return pointer.slice(0, pointer.lastIndexOf('/', LIMITS.pointer));
}

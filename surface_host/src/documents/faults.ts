/** What a judge says: a code and a place, and words that hold no value (rules A3, A4). */

import { CODES } from './table.js';

/** `document.` and a word. */
export type DocumentCode = keyof typeof CODES;

/** One fault. */
export interface Issue {
  readonly code: DocumentCode;
  /** RFC 6901, at most 256 UTF-16 units. */
  readonly pointer: string;
  /** For the author; never a value. */
  readonly reason: string;
}

export const issue = (code: DocumentCode, pointer: string): Issue => ({ code, pointer, reason: CODES[code].means });

/** A document, state, result or frame is not taken. */
export class Refused extends Error {
  readonly code: DocumentCode;
  readonly pointer: string;

  /** `issues`: the fault that is the verdict, then up to 19 more faults of shape in document order. */
  constructor(readonly issues: readonly [Issue, ...Issue[]]) {
    const [first] = issues;
    super(`${first.code} at \`${first.pointer}\`: ${first.reason}`);
    this.name = 'Refused';
    this.code = first.code;
    this.pointer = first.pointer;
  }
}

export const refused = (code: DocumentCode, pointer = ''): Refused => new Refused([issue(code, pointer)]);

/** Throws `Refused` if there is any. */
export function assertNone([first, ...more]: readonly Issue[]): void {
  if (first) throw new Refused([first, ...more]);
}

/** An expression has no value in this state; only what uses it feels that (rules H3). */
export class NoValue extends Error {
  /** `pointer`: to the innermost expression that failed, at most 256 UTF-16 units. */
  constructor(
    readonly code: DocumentCode,
    readonly pointer: string,
  ) {
    super(`${code} at \`${pointer}\`: ${CODES[code].means}`);
    this.name = 'NoValue';
  }
}

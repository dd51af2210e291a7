/**
 * The verdict on a document: ok, or the first fault as code and place (design §12; the order is the norm's).
 *
 * The gateway judged it before. The page judges it again, whatever way it came, because what it draws is its own affair.
 */

import { canonical, byteLength, digestOf } from './canonical.js';
import { assertBudgets } from './budgets.js';
import { assertNone, refused } from './faults.js';
import { assertMeaning } from './meaning.js';
import { frozen, type Plain } from './plain.js';
import { assertSafeJSON } from './safe.js';
import { decoded, scan } from './scanner.js';
import { shapeIssues } from './shape.js';
import { LIMITS } from './table.js';
import type { DocumentKind, UIDocument } from './types.js';

export interface JudgeOptions {
  /** The limit of this installation in bytes, 1,024 to 262,144, as the gateway tells it (rules A2). */
  readonly maxBytes?: number;
  /** What it must be; without it either will do. */
  readonly kind?: DocumentKind;
}

/** A document that was let through. */
export interface Judged {
  /** Frozen to its last part. */
  readonly document: UIDocument;
  /** Its one text (RFC 8785). */
  readonly canonical: string;
  /** SHA-256 of that text's UTF-8, in lower-case hex. */
  digest(): Promise<string>;
}

/** Judges the text of a document. Throws `Refused`. */
export function judge(raw: string | Uint8Array, options: JudgeOptions = {}): Judged {
  return judgePlain(scan(decoded(raw, options.maxBytes ?? LIMITS.bytes)), options);
}

/** Judges a document that came as an object. Throws `Refused`. */
export function judgeValue(value: unknown, options: JudgeOptions = {}): Judged {
  return judgePlain(assertSafeJSON(value), options);
}

/** Judges what came through the scanner or the value check. Throws `Refused`. */
export function judgePlain(plain: Plain, { maxBytes = LIMITS.bytes, kind }: JudgeOptions = {}): Judged {
  // Exponents make a short text long, so its size is judged once more as it is sent on and hashed.
  const text = canonical(plain);
  if (byteLength(text) > Math.min(maxBytes, LIMITS.bytes)) throw refused('document.too_large');
  assertBudgets(plain);
  assertNone(shapeIssues(plain));
  const document = frozen(plain) as UIDocument;
  assertMeaning(document, plain, kind);
  return { document, canonical: text, digest: () => digestOf(text) };
}

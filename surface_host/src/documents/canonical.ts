/** The one text of a document (RFC 8785), and its name: the SHA-256 of that text. */

import { isItems, isMembers, type Plain } from './plain.js';
import { sha256 } from './sha256.js';

/** Keys in the order of their UTF-16 units, numbers as ECMAScript spells them, nothing between the tokens. */
export function canonical(value: Plain): string {
  if (isItems(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value);
  const keys = [...value.keys()].sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value.get(key) as Plain)}`).join(',')}}`;
}

const encoder = new TextEncoder();

export const byteLength = (text: string): number => encoder.encode(text).length;

/** SHA-256 of the text's UTF-8 in lower-case hex, by the platform where it has the means: outside secure contexts it has none. */
export async function digestOf(text: string): Promise<string> {
  const bytes = encoder.encode(text);
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  return hex(subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes)) : sha256(bytes));
}

export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

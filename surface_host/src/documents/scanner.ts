/**
 * Reads the text of a document: bytes, then JSON as RFC 8259 has it (the norm's phases 0 and 1).
 *
 * `JSON.parse` keeps the last of two equal keys, makes `__proto__` an own key, rounds what it cannot hold and knows no
 * limits. So the text is read here, from left to right and without recursion, and the first fault is where reading ends.
 */

import { refused, type Refused } from './faults.js';
import { Gathering, type Plain } from './plain.js';
import { LIMITS } from './table.js';

const SPACE = /[ \t\n\r]*/y;
const UNESCAPED = /[^"\\\u0000-\u001f]*/y;
const UNICODE_ESCAPE = /[0-9a-fA-F]{4}/y;
/** As long as the grammar goes on; what follows is judged as whatever comes next. */
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

const WORDS: Readonly<Record<string, readonly [string, null | boolean]>> = { t: ['true', true], f: ['false', false], n: ['null', null] };
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const badJson = (): Refused => refused('document.bad_json');

/** The bytes as text. A byte order mark stays: the grammar has no place for it. */
export function decoded(raw: string | Uint8Array, maxBytes: number): string {
  const bytes = typeof raw === 'string' ? new TextEncoder().encode(raw) : raw;
  if (bytes.length > Math.min(maxBytes, LIMITS.bytes)) throw refused('document.too_large');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // The encoder replaces half a pair; what is no text has no bytes.
    if (typeof raw === 'string' && raw !== text) throw new TypeError('not well formed');
    return text;
  } catch {
    throw refused('document.not_utf8');
  }
}

/** The value of a JSON text. Throws `Refused` with the first fault. */
export function scan(text: string): Plain {
  return new Reader(text).read();
}

class Reader {
  readonly #into = new Gathering();
  #at = 0;

  constructor(readonly text: string) {}

  read(): Plain {
    for (;;) {
      // A value is due.
      this.#skip();
      if (this.#opens() && this.#isDue()) continue;
      if (this.#closes()) continue;
      if (this.#at < this.text.length) throw badJson();
      return this.#into.root;
    }
  }

  /** Takes a scalar whole, of a container what opens it; says whether one was opened. */
  #opens(): boolean {
    const first = this.text[this.#at] ?? '';
    if (first === '{' || first === '[') {
      this.#into.begin('container');
      this.#at += 1;
      if (first === '{') this.#into.openObject();
      else this.#into.openArray();
      return true;
    }
    if (first === '"') {
      this.#into.begin('scalar');
      this.#into.scalar(this.#string());
    } else if (Object.hasOwn(WORDS, first)) {
      this.#into.begin('scalar');
      const [word, value] = WORDS[first] as (typeof WORDS)[string];
      if (!this.text.startsWith(word, this.#at)) throw badJson();
      this.#at += word.length;
      this.#into.scalar(value);
    } else if (/^[-0-9]$/.test(first)) {
      this.#into.begin('scalar');
      this.#into.scalar(this.#number());
    } else throw badJson();
    return false;
  }

  /** In a container just opened: whether a value is due, or it is empty. */
  #isDue(): boolean {
    this.#skip();
    const isObject = this.#into.isInObject;
    if (this.text[this.#at] === (isObject ? '}' : ']')) return false;
    if (isObject) this.#key();
    return true;
  }

  /** Behind a value: closes what ends here, and says whether another value is due. */
  #closes(): boolean {
    for (;;) {
      this.#skip();
      if (this.#into.depth === 0) return false;
      const isObject = this.#into.isInObject;
      const next = this.text[this.#at];
      this.#at += 1;
      if (next === (isObject ? '}' : ']')) {
        this.#into.close();
        continue;
      }
      if (next !== ',') throw badJson();
      if (isObject) {
        this.#skip();
        this.#key();
      }
      return true;
    }
  }

  #key(): void {
    if (this.text[this.#at] !== '"') throw badJson();
    this.#into.key(this.#string());
    this.#skip();
    if (this.text[this.#at] !== ':') throw badJson();
    this.#at += 1;
  }

  #string(): string {
    let value = '';
    this.#at += 1;
    for (;;) {
      value += this.#match(UNESCAPED);
      const end = this.text[this.#at];
      this.#at += 1;
      if (end === '"') return value;
      if (end !== '\\') throw badJson();
      const letter = this.text[this.#at] ?? '';
      this.#at += 1;
      if (letter === 'u') {
        const code = this.#match(UNICODE_ESCAPE);
        if (code === '') throw badJson();
        value += String.fromCharCode(parseInt(code, 16));
      } else if (Object.hasOwn(ESCAPES, letter)) value += ESCAPES[letter];
      else throw badJson();
    }
  }

  #number(): number {
    const digits = this.#match(NUMBER);
    if (digits === '') throw badJson();
    return Number(digits);
  }

  #skip(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.text) ?? [''];
    this.#at += found.length;
    return found;
  }
}

/** Numbers as a person reads them, and as they type them. */

import type { Scalar } from '../types.js';

/** Decimal notation, as ECMAScript reads it; no thousands separators, they mean different things to different people. */
const TYPED = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/;

export interface Numbers {
  /** With exactly so many decimals, rounded half away from zero; without, as many as the value has. */
  format(value: number, decimals?: number): string;
  /** Short, for charts: `12.5K`; alike for all values of one chart, of which the largest is `largest`. */
  compact(value: number, largest: number): string;
  percent(share: number): string;
  /** A value in a cell or a line of text. */
  show(value: Scalar, decimals?: number): string;
}

export function createNumbers(locale: string, words: { readonly yes: string; readonly no: string }): Numbers {
  const exact = Array.from({ length: 7 }, (_, digits) => new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }));
  const free = new Intl.NumberFormat(locale, { maximumSignificantDigits: 17 });
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
  const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  // A zero has no sign for a reader.
  const positive = (value: number): number => (Object.is(value, -0) ? 0 : value);
  const format = (value: number, decimals?: number): string => (decimals === undefined ? free : (exact[decimals] ?? free)).format(positive(value));
  return {
    format,
    compact: (value, largest) => (largest < 10_000 ? free.format(positive(value)) : short.format(value)),
    percent: (value) => share.format(value),
    show(value, decimals) {
      if (typeof value === 'number') return format(value, decimals);
      return typeof value === 'boolean' ? words[value ? 'yes' : 'no'] : value;
    },
  };
}

/** The number a person typed; undefined if it is none. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  if (!TYPED.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : undefined;
}

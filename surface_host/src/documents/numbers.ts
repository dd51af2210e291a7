/**
 * Arithmetic that both languages do alike to the last bit (design §12, rules H4).
 *
 * ECMAScript leaves `**` and its precision to the engine, so powers are products here; sums, products, quotients and
 * square roots are exact to IEEE 754 in both languages.
 */

import type { DocumentCode } from './faults.js';
import { LIMITS } from './table.js';

/** How near to a multiple of the step a value must be, relative to how many steps it is away. */
const GRID_TOLERANCE = 1e-9;

/** A number, or the code that says why there is none. */
export type Outcome = number | DocumentCode;

/** JSON has one zero; so have we. */
export const unsigned = (value: number): number => (value === 0 ? 0 : value);

/** The value, if it is one a document may hold. */
export const bounded = (value: number): Outcome => (Math.abs(value) <= LIMITS.magnitude ? unsigned(value) : 'document.value_range');

export const text = (value: number): string => String(value);

/** Half away from zero on the exact binary value; `places` from 0 to 6. */
export const rounded = (value: number, places: number): number => unsigned(Number(value.toFixed(places)));

/** A whole power of at most 1,024, or for exactly 0.5 the square root. */
export function power(base: number, exponent: number): Outcome {
  if (exponent === 0.5) return base < 0 ? 'document.invalid_power' : Math.sqrt(base);
  const whole = Math.abs(exponent);
  if (!Number.isInteger(whole) || whole > LIMITS.exponent) return 'document.invalid_power';
  let product: Outcome = 1;
  for (const bit of whole.toString(2)) {
    product = bounded(product * product);
    if (bit === '1' && typeof product === 'number') product = bounded(product * base);
    if (typeof product !== 'number') return product;
  }
  if (exponent >= 0) return product;
  // A product too small for a double is zero, too, and has no reciprocal.
  return product === 0 ? 'document.invalid_power' : bounded(1 / product);
}

/** Whether `value` is a whole number of steps away from `base`, but for what doubles lose on the way. */
export function isOnGrid(value: number, step: number, base: number): boolean {
  const steps = (value - base) / step;
  // A step too small for the quotient to be a double is finer than any grid of doubles.
  if (!Number.isFinite(steps)) return true;
  return Math.abs(steps - Math.round(steps)) <= GRID_TOLERANCE * Math.max(1, Math.abs(steps));
}

/**
 * What of a schema's props may reach a component (rules I3). The gateway has the same function (`surface_host/genui.py`), and
 * shared vectors hold both to one verdict.
 */

import { isObject } from './schema.js';

/** Props are level 1; what lies deeper than this is dropped. */
export const DEPTH_MAX = 64;

/** Values that are looked at; the rest is dropped. It ends what shares its parts many times over. */
export const VALUES_MAX = 20_000;

export type DropCode = 'genui.kind' | 'genui.number' | 'genui.address' | 'genui.name' | 'genui.cycle' | 'genui.depth' | 'genui.size';

/** One value that was left out: where it was (JSON pointer into the props), and why; never what it was. */
export interface Dropped {
  readonly code: DropCode;
  readonly pointer: string;
}

/** Browsers leave these out of an address before they read its scheme. */
const CONTROLS = /[\x00-\x1f]/g;
const ADDRESS = /^ *([A-Za-z][A-Za-z0-9+.-]*):/;
const SCHEMES: readonly string[] = ['http', 'https', 'blob'];
const NUMERIC = /^-?([0-9]+)(?:\.([0-9]+))?$/;
const INDEX = /^(?:0|[1-9][0-9]*)$/;
const RESERVED: readonly string[] = ['__proto__', 'prototype', 'constructor'];

/** In the place of a value that is left out; null is a value. */
const GONE = Symbol('gone');

const isRefusedAddress = (text: string): boolean => {
  const scheme = ADDRESS.exec(text.replace(CONTROLS, ''))?.[1];
  return scheme !== undefined && !SCHEMES.includes(scheme.toLowerCase());
};

/** A decimal number as its digits and the power of ten of the first, the same for every spelling of it. */
function decimal(whole: string, fraction: string, power = 0): string {
  const digits = whole + fraction;
  const first = digits.search(/[1-9]/);
  if (first < 0) return '0';
  return `${digits.slice(first).replace(/0+$/, '')}e${whole.length - 1 - first + power}`;
}

/**
 * The number that a numeric text writes, if a double is that number exactly; else the text. Exactly means that the double's own
 * shortest spelling is the same decimal number; of integers, that it is safe.
 */
function narrowed(text: string): string | number {
  const [, whole, fraction = ''] = NUMERIC.exec(text) ?? [];
  if (whole === undefined) return text;
  const value = Number(text);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return text;
  const [, first = '', rest = '', power = '0'] = /^-?(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  if (decimal(whole, fraction) !== decimal(first, rest, Number(power))) return text;
  // There is no negative zero in JSON as everybody reads it.
  return value === 0 ? 0 : value;
}

/** Whether it is a plain object of any realm: one without a prototype, or with one that has none itself. */
function isPlain(value: object): boolean {
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === null || Object.getPrototypeOf(proto) === null;
}

class Pass {
  private readonly above: object[] = [];
  private seen = 0;

  constructor(private readonly report: (dropped: Dropped) => void) {}

  object(value: object, at: string): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    this.each(value, at, (key, found) => void (kept[key] = found));
    return kept;
  }

  private array(value: object, at: string): unknown[] {
    const kept: unknown[] = [];
    // Own indices only: a sparse array is as long as what it holds.
    this.each(value, at, (_, found) => void kept.push(found), (key) => INDEX.test(key));
    return kept;
  }

  private each(value: object, at: string, keep: (key: string, found: unknown) => void, isWanted?: (key: string) => boolean): void {
    this.above.push(value);
    for (const [key, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (property.enumerable !== true || isWanted?.(key) === false) continue;
      const pointer = `${at}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
      const found = RESERVED.includes(key) ? this.drop('name', pointer) : this.value(property.value, pointer, 'get' in property);
      if (found !== GONE) keep(key, found);
    }
    this.above.pop();
  }

  private value(value: unknown, at: string, isComputed: boolean): unknown {
    if (++this.seen > VALUES_MAX) return this.drop('size', at);
    if (isComputed) return this.drop('kind', at);
    switch (typeof value) {
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : this.drop('number', at);
      case 'string':
        return isRefusedAddress(value) ? this.drop('address', at) : narrowed(value);
      case 'object':
        return value === null ? null : this.container(value, at);
      default:
        return this.drop('kind', at);
    }
  }

  private container(value: object, at: string): unknown {
    const depth = this.above.length;
    try {
      if (!Array.isArray(value) && !isPlain(value)) return this.drop('kind', at);
      if (this.above.includes(value)) return this.drop('cycle', at);
      if (depth >= DEPTH_MAX) return this.drop('depth', at);
      return Array.isArray(value) ? this.array(value, at) : this.object(value, at);
    } catch {
      // A proxy that will not be looked at.
      this.above.length = depth;
      return this.drop('kind', at);
    }
  }

  private drop(why: string, pointer: string): typeof GONE {
    this.report({ code: `genui.${why}` as DropCode, pointer });
    return GONE;
  }
}

/**
 * What of `props` a component may be given, as a copy that shares nothing; what is not a plain object gives `{}`.
 * Never throws. Each value that is left out is told to `report`.
 */
export function sanitizeGenuiProps(props: unknown, report: (dropped: Dropped) => void = () => {}): Record<string, unknown> {
  try {
    return isObject(props) && isPlain(props) ? new Pass(report).object(props, '') : {};
  } catch {
    return {};
  }
}

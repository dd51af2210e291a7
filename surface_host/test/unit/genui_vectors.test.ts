import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitizeGenuiProps, type Dropped } from '../../src/genui/sanitise.js';
import { isUISchema } from '../../src/genui/schema.js';
import addresses from '../../../tests/vectors/genui/addresses.json' with { type: 'json' };
import kinds from '../../../tests/vectors/genui/kinds.json' with { type: 'json' };
import numbers from '../../../tests/vectors/genui/numbers.json' with { type: 'json' };
import schemas from '../../../tests/vectors/genui/schemas.json' with { type: 'json' };
import shapes from '../../../tests/vectors/genui/shapes.json' with { type: 'json' };

interface SchemaVector {
  readonly name: string;
  readonly value: unknown;
  readonly legal: boolean;
}
interface PropsVector {
  readonly name: string;
  readonly props: unknown;
  readonly kept: unknown;
  readonly dropped: readonly Dropped[];
}

class Instance {
  readonly a = 1;
}

/** What JSON cannot say, by the name it has in the vectors. */
const MADE: Readonly<Record<string, () => unknown>> = {
  nan: () => NaN,
  infinity: () => Infinity,
  '-infinity': () => -Infinity,
  function: () => () => 1,
  symbol: () => Symbol('a'),
  undefined: () => undefined,
  date: () => new Date(0),
  map: () => new Map(),
  set: () => new Set(),
  regexp: () => /a/,
  bytes: () => new Uint8Array(1),
  instance: () => new Instance(),
  proto: () => JSON.parse('{"__proto__": {"polluted": true}, "a": 3}') as unknown,
  cycle: () => {
    const value: Record<string, unknown> = { a: 1 };
    return Object.assign(value, { self: value });
  },
  'array-cycle': () => {
    const value: unknown[] = [1];
    value.push(value);
    return value;
  },
  twice: () => {
    const shared = { n: 1 };
    return { a: shared, b: shared };
  },
};

function made(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(made);
  if (typeof value !== 'object' || value === null) return value;
  const name = (value as { $?: string }).$;
  if (name === undefined) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, made(item)]));
  const [kind = '', count] = name.split(':');
  return count === undefined ? MADE[kind]!() : Array.from({ length: Number(count) }, () => 0);
}

describe('GenUI by the vectors of both halves', () => {
  test.each(schemas as SchemaVector[])('a schema: $name', ({ value, legal }) => {
    expect(isUISchema(made(value))).toBe(legal);
  });

  for (const [file, vectors] of Object.entries({ addresses, numbers, kinds, shapes })) {
    test.each(vectors as unknown as PropsVector[])(`${file}: $name`, ({ props, kept, dropped }) => {
      const told: Dropped[] = [];
      const found = sanitizeGenuiProps(made(props), (one) => told.push(one));
      expect(found).toStrictEqual(made(kept));
      expect(told).toEqual(dropped);
      expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    });
  }
});

describe('GenUI props that no JSON has', () => {
  test('a getter is not run', () => {
    let runs = 0;
    const props = { get x() { runs += 1; return 1; }, y: 2 };
    expect(sanitizeGenuiProps(props)).toEqual({ y: 2 });
    expect(isUISchema({ get type() { runs += 1; return 'a'; }, props: {} })).toBe(false);
    expect(runs).toBe(0);
  });

  test('a schema made of what its prototype has is none', () => {
    expect(isUISchema(Object.create({ type: 'a', props: {} }))).toBe(false);
    expect(sanitizeGenuiProps(Object.create({ a: 1 }))).toEqual({});
  });

  test('symbols and what is not enumerable stay out, holes leave no gap', () => {
    const props = Object.defineProperty({ a: 1, [Symbol('b')]: 2 }, 'c', { value: 3, enumerable: false });
    expect(sanitizeGenuiProps({ props, sparse: Object.assign(new Array(2 ** 31), { 7: 'x' }) })).toEqual({ props: { a: 1 }, sparse: ['x'] });
  });

  test('a proxy that throws is dropped, its siblings stay', () => {
    const angry = new Proxy({}, { ownKeys: () => { throw new Error('no'); } });
    const angrier = new Proxy({}, { getPrototypeOf: () => { throw new Error('no'); }, getOwnPropertyDescriptor: () => { throw new Error('no'); } });
    expect(sanitizeGenuiProps({ a: [1, angry, 2], b: angrier, c: { d: 3 } })).toEqual({ a: [1, 2], c: { d: 3 } });
    expect(sanitizeGenuiProps(angry)).toEqual({});
    expect(isUISchema(angrier)).toBe(false);
  });

  test('boxed texts and big integers are dropped', () => {
    expect(sanitizeGenuiProps({ a: new String('x'), b: 1n, c: Object(1n) })).toEqual({});
  });

  test('a thing that shares its parts many times over ends', () => {
    let value: unknown = 1;
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(() => sanitizeGenuiProps({ value })).not.toThrow();
  });

  test('whatever it is, it throws nothing, and what it keeps is JSON that it keeps again', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSet: true, withSparseArray: true, withTypedArray: true, withBoxedValues: true });
    fc.assert(
      fc.property(anything, (value) => {
        expect(typeof isUISchema(value)).toBe('boolean');
        const kept = sanitizeGenuiProps({ value });
        const text = JSON.stringify(kept);
        expect(sanitizeGenuiProps(JSON.parse(text))).toEqual(kept);
      }),
      { numRuns: 500 },
    );
  });

  test('a narrowed number is the number that was written', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?[0-9]{1,30}(\.[0-9]{1,30})?$/), (text) => {
        const { x } = sanitizeGenuiProps({ x: text });
        expect(x === text || x === Number(text) || (x === 0 && Number(text) === 0)).toBe(true);
      }),
    );
  });
});

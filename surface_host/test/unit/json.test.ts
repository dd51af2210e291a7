import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteLength, checkJson, cut, MAX_DEPTH, messageOf, sameJson, wellFormed } from '../../src/core/index.js';

const nest = (depth: number): unknown => (depth === 0 ? 1 : [nest(depth - 1)]);

describe('checkJson', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = { back: cycle };

  test.each<[string, unknown, string]>([
    ['NaN', { a: [1, NaN] }, '/a/1'],
    ['Infinity', { a: -Infinity }, '/a'],
    ['bigint', { a: 1n }, '/a'],
    ['undefined', { a: { b: undefined } }, '/a/b'],
    ['a hole', { a: Array.from({ length: 2 }).fill(1, 0, 1).concat(), b: [, 1] }, '/a/1'],
    ['a function', [() => 1], '/0'],
    ['a symbol', { a: Symbol('x') }, '/a'],
    ['a date', { when: new Date(0) }, '/when'],
    ['a map', { m: new Map() }, '/m'],
    ['a cycle', cycle, '/self/back'],
    ['an unsafe integer', { n: 2 ** 53 }, '/n'],
    ['a lone surrogate', { 'a/b': { '~': '\ud800' } }, '/a~1b/~0'],
    ['undefined itself', undefined, ''],
  ])('names where %s is', (_, value, pointer) => {
    expect(checkJson(value)).toMatchObject({ ok: false, pointer });
  });

  test('depth is judged at the edge', () => {
    expect(checkJson(nest(MAX_DEPTH)).ok).toBe(true);
    expect(checkJson(nest(MAX_DEPTH + 1)).ok).toBe(false);
  });

  test('the largest exact integer passes', () => {
    expect(checkJson(Number.MAX_SAFE_INTEGER)).toMatchObject({ ok: true, text: '9007199254740991' });
  });

  test('a shared reference is no cycle', () => {
    const shared = { a: 1 };
    expect(checkJson([shared, shared])).toMatchObject({ ok: true, value: [{ a: 1 }, { a: 1 }] });
  });

  test('a getter that throws is a refusal, not an exception', () => {
    const value = Object.defineProperty({}, 'a', { enumerable: true, get: () => { throw new Error('no'); } });
    expect(checkJson(value)).toMatchObject({ ok: false });
  });

  test('what passes comes out the same and independent', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const check = checkJson(value);
        // fast-check makes unsafe integers and lone surrogates too; those must be refused, never changed.
        if (!check.ok) return;
        expect(check.value).toEqual(JSON.parse(JSON.stringify(value)));
        expect(sameJson(check.value, value)).toBe(true);
      }),
    );
  });
});

describe('text', () => {
  test('bytes are counted in UTF-8', () => {
    expect(['a', 'é', '界', '😀', ''].map(byteLength)).toEqual([1, 2, 3, 4, 0]);
  });

  test('a cut never splits a pair', () => {
    expect(cut('a😀b', 2)).toBe('a');
    expect(cut('a😀b', 3)).toBe('a😀');
  });

  test('messages are short and well formed', () => {
    expect(messageOf(new Error('x'.repeat(900)))).toHaveLength(500);
    expect(messageOf('\ud800!')).toBe('\ufffd!');
    expect(wellFormed('a😀')).toBe('a😀');
  });

  test('sameJson ignores the order of keys and nothing else', () => {
    expect(sameJson({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(sameJson({}, [])).toBe(false);
    expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(sameJson({ toString: 1 }, {})).toBe(false);
  });
});

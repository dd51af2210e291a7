import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  assertSafeJSON,
  createEvaluation,
  digestOf,
  engine,
  evaluationOf,
  initialState,
  judge,
  judgeEnvelope,
  judgeValue,
  mayInvoke,
  NoValue,
  openGeneration,
  Refused,
  restoreState,
  take,
  updateState,
  type Expr,
  type FrameKind,
} from '../../src/documents/index.js';
import { canonical, hex } from '../../src/documents/canonical.js';
import { rounded, text } from '../../src/documents/numbers.js';
import { frozen } from '../../src/documents/plain.js';
import { scan } from '../../src/documents/scanner.js';
import { sha256 } from '../../src/documents/sha256.js';
import { LIMITS } from '../../src/documents/table.js';

const fault = (work: () => unknown): [string, string] | 'taken' => {
  try {
    work();
    return 'taken';
  } catch (error) {
    if (error instanceof Refused) return [error.code.replace('document.', ''), error.pointer];
    throw error;
  }
};

const LEAF = { id: 'r', type: 'Divider', props: {} };
const documentOf = (parts: object = {}) => ({ version: '1.1', title: 'T', root: LEAF, ...parts });
const judged = (parts: object = {}) => judgeValue(documentOf(parts)).document;

describe('the value check', () => {
  const cycle: Record<string, unknown> = { a: {} };
  (cycle.a as Record<string, unknown>).b = cycle;
  const shared = { n: 1 };
  class Own {
    readonly a = 1;
  }

  test.each<[string, unknown, [string, string]]>([
    ['an accessor', { get a() { return 1; } }, ['not_json', '/a']],
    ['a key that is a symbol', { a: { [Symbol('s')]: 1 } }, ['not_json', '/a']],
    ['a property that is not listed', Object.defineProperty({ a: 1 }, 'b', { value: 1, enumerable: false }), ['not_json', '']],
    ['a hole', { a: [1, , 3] }, ['not_json', '/a']],
    ['the longest of all empty arrays', { a: new Array(2 ** 32 - 1) }, ['not_json', '/a']],
    ['an array with a name on it', { a: Object.assign([1], { b: 2 }) }, ['not_json', '/a']],
    ['an array of a class', { a: new (class extends Array {})() }, ['not_json', '/a']],
    ['an instance', [new Own()], ['not_json', '/0']],
    ['an object with a foreign prototype', [Object.create({ a: 1 })], ['not_json', '/0']],
    ['a date', { a: new Date(0) }, ['not_json', '/a']],
    ['a map', { a: new Map() }, ['not_json', '/a']],
    ['a function', { toJSON: () => ({}) }, ['not_json', '/toJSON']],
    ['undefined', { a: undefined }, ['not_json', '/a']],
    ['a big integer', [1n], ['not_json', '/0']],
    ['a symbol', [Symbol('s')], ['not_json', '/0']],
    ['a boxed text', [new String('x')], ['not_json', '/0']],
    ['a circle', cycle, ['not_json', '/a/b']],
    ['a part that occurs twice', { a: shared, b: [shared] }, ['not_json', '/b/0']],
    ['not a number', [NaN], ['number_range', '/0']],
    ['infinity', [-Infinity], ['number_range', '/0']],
    ['2^53', [2 ** 53], ['number_range', '/0']],
    ['half a pair', { a: '\ud800' }, ['lone_surrogate', '/a']],
    ['half a pair in a key', { a: { '\udc00': 1 } }, ['lone_surrogate', '/a']],
    ['an own key __proto__', { a: JSON.parse('{"__proto__": 1}') as unknown }, ['reserved_key', '/a/__proto__']],
    ['a key constructor', { a: { constructor: 1 } }, ['reserved_key', '/a/constructor']],
    ['too deep', JSON.parse('['.repeat(66) + ']'.repeat(66)), ['too_deep', '/0'.repeat(65)]],
  ])('refuses %s', (_, value, expected) => {
    expect(fault(() => assertSafeJSON(value))).toEqual(expected);
  });

  test('runs no getter and no toJSON', () => {
    const run = vi.fn(() => 1);
    const value = { b: { toJSON: run } };
    Object.defineProperty(value, 'a', { get: run, enumerable: true });
    expect(fault(() => judgeValue(value))).toEqual(['not_json', '/b/toJSON']);
    expect(fault(() => judgeEnvelope(Object.defineProperty({ protocol: 'ostiary.ui/1', version: '1.1' }, 'document', { get: run, enumerable: true })))).toEqual(['wrong_type', '/document']);
    expect(run).not.toHaveBeenCalled();
  });

  test('a proxy that throws is refused like all that is no JSON', () => {
    const angry = new Proxy({}, { ownKeys: () => { throw new TypeError('no'); } });
    expect(fault(() => assertSafeJSON({ a: angry }))).toEqual(['not_json', '']);
  });

  test('whatever it is, it is refused or it is JSON; and JSON is taken as it is', () => {
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSet: true, withSparseArray: true, withTypedArray: true, withBoxedValues: true });
    fc.assert(
      fc.property(anything, (value) => {
        let plain;
        try {
          plain = assertSafeJSON(value);
        } catch (error) {
          expect(error).toBeInstanceOf(Refused);
          return;
        }
        expect(canonical(scan(JSON.stringify(value)))).toBe(canonical(plain));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the scanner', () => {
  test('reads what JSON.parse reads, and its text reads back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(2), (value, indent) => {
        let plain;
        try {
          plain = scan(JSON.stringify(value, null, indent));
        } catch (error) {
          // Numbers beyond 2^53 - 1 and reserved keys are JSON all the same.
          expect(['document.number_range', 'document.reserved_key']).toContain((error as Refused).code);
          return;
        }
        expect(frozen(plain)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonical(scan(canonical(plain)))).toBe(canonical(plain));
      }),
      { numRuns: 500 },
    );
  });

  test('takes nothing that JSON.parse refuses', () => {
    const tokens = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '"', '1', '-', '01', '1.', '1e5', 'true', 'nul', 'NaN', ' ', '\n', '\u00a0', '\\', "'a'", '\ufeff', '//');
    fc.assert(
      fc.property(fc.array(tokens, { maxLength: 10 }), (parts) => {
        const text = parts.join('');
        if (fault(() => scan(text)) === 'taken') expect(() => JSON.parse(text) as unknown).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  test('a document of exactly 262,144 bytes is legal, one more is too large', () => {
    const exact = JSON.stringify(documentOf()).padEnd(LIMITS.bytes);
    expect(fault(() => judge(exact))).toBe('taken');
    expect(fault(() => judge(`${exact} `))).toEqual(['too_large', '']);
    expect(fault(() => judge(exact, { maxBytes: LIMITS.bytes + 1 }))).toBe('taken');
    expect(fault(() => judge(`${exact} `, { maxBytes: LIMITS.bytes + 1 }))).toEqual(['too_large', '']);
    expect(fault(() => judge('x'.repeat(1025), { maxBytes: 1024 }))).toEqual(['too_large', '']);
  });

  test('half a pair in the text itself has no bytes', () => {
    expect(fault(() => judge('"\ud800"'))).toEqual(['not_utf8', '']);
  });
});

describe('the verdict', () => {
  test('a document that was let through is frozen to its last part', () => {
    const { document } = judge(JSON.stringify(documentOf({ root: { id: 'r', type: 'Table', props: { columns: [{ key: 'c', label: 'C' }], rows: [{ c: { op: 'add', args: [1, 2] } }] } } })));
    const pending: unknown[] = [document];
    let parts = 0;
    for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
      if (typeof part !== 'object' || part === null) continue;
      expect(Object.isFrozen(part)).toBe(true);
      parts += 1;
      pending.push(...(Object.values(part) as unknown[]));
    }
    expect(parts).toBeGreaterThan(8);
  });

  test('later changes to the object that was judged do not reach the document', () => {
    const value = documentOf();
    const { document } = judgeValue(value);
    value.title = 'other';
    expect(document.title).toBe('T');
  });

  test('the author hears of 20 faults, in document order and without a value', () => {
    const children = Array.from({ length: 30 }, (_, n) => ({ id: `n${n}`, type: 'Text', props: { text: 1, secret: 'hunter2' } }));
    const made = { ...documentOf(), root: { id: 'r', type: 'Stack', props: {}, children: children.map((child) => ({ ...child, secret: 'hunter2' })) } };
    try {
      judgeValue(made);
      expect.unreachable();
    } catch (error) {
      const { issues, message } = error as Refused;
      expect(issues).toHaveLength(20);
      expect(issues.slice(0, 3).map(({ code, pointer }) => [code, pointer])).toEqual([
        ['document.unknown_key', '/root/children/0/secret'],
        ['document.unknown_key', '/root/children/0/props/secret'],
        ['document.unknown_key', '/root/children/1/secret'],
      ]);
      expect(message + JSON.stringify(issues)).not.toContain('hunter2');
    }
  });

  test('what is structured has nothing to press', () => {
    const value = documentOf({ actions: { a: { type: 'reset' } } });
    expect(fault(() => judgeValue(value, { kind: 'structured' }))).toEqual(['not_structured', '/actions']);
    expect(fault(() => judgeValue(value, { kind: 'intelligent' }))).toBe('taken');
  });
});

describe('the shell', () => {
  const shell = (parts: object = {}) => ({ protocol: 'ostiary.ui/1', version: '1.1', document: documentOf(), ...parts });

  test.each<[string, unknown, [string, string] | 'taken']>([
    ['whole', shell(), 'taken'],
    ['no object', [shell()], ['wrong_type', '']],
    ['a text', JSON.stringify(shell()), ['wrong_type', '']],
    ['another protocol', shell({ protocol: 'ostiary.ui/2' }), ['not_allowed', '/protocol']],
    ['another version', shell({ version: '2.0' }), ['unknown_version', '/version']],
    ['a version the document does not have', shell({ version: '1.0' }), ['unknown_version', '/version']],
    ['a document in text', shell({ document: JSON.stringify(documentOf()) }), ['wrong_type', '/document']],
    ['something more', shell({ html: '' }), ['unknown_key', '/html']],
    ['something less', { protocol: 'ostiary.ui/1', version: '1.1' }, ['missing_key', '']],
    ['a fault in the document', shell({ document: documentOf({ title: '' }) }), ['wrong_length', '/title']],
  ])('%s', (_, value, expected) => {
    expect(fault(() => judgeEnvelope(value))).toEqual(expected);
  });

  test('does not count to the size or the depth of the document', () => {
    const rest = LIMITS.bytes - JSON.stringify(documentOf({ root: { id: 'r', type: 'Stack', props: {}, children: [] } })).length;
    const node = (id: number, length: number) => ({ id: `n${id}`, type: 'Markdown', props: { text: 'x'.repeat(length) } });
    const children = Array.from({ length: 15 }, (_, n) => node(n, 16_384));
    const left = rest - JSON.stringify(children).length - JSON.stringify(node(99, 0)).length + 1;
    const exact = documentOf({ root: { id: 'r', type: 'Stack', props: {}, children: [...children, node(99, left)] } });
    expect(JSON.stringify(exact)).toHaveLength(LIMITS.bytes);
    expect(fault(() => judgeEnvelope(shell({ document: exact })))).toBe('taken');
    expect(fault(() => judgeEnvelope(shell({ document: { ...exact, title: 'TT' } })))).toEqual(['too_large', '']);
  });
});

describe('values', () => {
  const broken = { derived: { bad: { op: 'div', args: [1, { ref: 'n' }] }, uses: { op: 'add', args: [{ ref: 'bad' }, 1] }, good: { op: 'add', args: [{ ref: 'n' }, 1] } }, state: { n: { type: 'number', default: 1 } } };

  test('a fault reaches only what uses it', () => {
    const document = judged(broken);
    const state = updateState(document, initialState(document), { n: 0 });
    const derived = evaluationOf(document, state).derived();
    expect(derived.get('good')).toBe(1);
    for (const name of ['bad', 'uses']) expect(derived.get(name)).toMatchObject({ code: 'document.division_by_zero', pointer: '/derived/bad' });
    expect(engine.evaluate(document, state)({ ref: 'good' })).toBe(1);
    expect(() => engine.evaluate(document, state)({ op: 'concat', args: ['x', { ref: 'uses' }] })).toThrow(NoValue);
  });

  test('a recovery button works, whatever else has no value', () => {
    const document = judged({ ...broken, actions: { heal: { type: 'set', field: 'n', value: 1 } } });
    const state = updateState(document, initialState(document), { n: 0 });
    expect(engine.act(document, state, 'heal')).toEqual({ ok: true, state: { n: 1 } });
  });

  test('nothing is worked out twice for one state', () => {
    const document = judged(broken);
    const state = initialState(document);
    expect(evaluationOf(document, state)).toBe(evaluationOf(document, state));
    expect(evaluationOf(document, updateState(document, state, { n: 2 }))).not.toBe(evaluationOf(document, state));
  });

  test('the steps of one evaluation end', () => {
    const wide = (depth: number): Expr => (depth === 0 ? 1 : { op: 'add', args: Array.from({ length: 16 }, () => wide(depth - 1)) });
    expect(() => createEvaluation({}, {}).value(wide(4))).toThrow(/too_many_steps/);
  });

  test('rounding is idempotent and text reads back', () => {
    const numbers = fc.double({ noNaN: true, min: -1e15, max: 1e15 });
    fc.assert(
      fc.property(numbers, fc.nat(6), (value, places) => {
        const once = rounded(value, places);
        expect(rounded(once, places)).toBe(once);
        expect(Object.is(once, -0)).toBe(false);
        expect(Number(text(value))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});

describe('states', () => {
  const names = Array.from({ length: 23 }, (_, n) => `f${n}`);
  const document = judged({ state: Object.fromEntries(names.map((name) => [name, { type: 'string', default: '' }])) });
  const long = '界'.repeat(4096);

  test('21 long texts are taken, the 22nd is not, a short one then is', () => {
    let state = initialState(document);
    for (const name of names.slice(0, 21)) state = updateState(document, state, { [name]: long });
    const before = { ...state };
    expect(fault(() => updateState(document, state, { f21: long }))).toEqual(['state_too_large', '']);
    expect(state).toEqual(before);
    state = updateState(document, state, { f21: 'short' });
    expect(names.slice(0, 21).every((name) => state[name] === long)).toBe(true);
    expect(Object.isFrozen(state)).toBe(true);
  });

  test('an old state beyond the limit refuses each edit and stays as it is', () => {
    const old = Object.fromEntries(names.map((name) => [name, long]));
    expect(fault(() => updateState(document, old, { f0: 'x' }))).toEqual(['state_too_large', '']);
    expect(old.f0).toBe(long);
    expect(restoreState(document, old)).toEqual(initialState(document));
  });

  test('restoring runs nothing and refuses nothing', () => {
    const run = vi.fn();
    fc.assert(
      fc.property(fc.anything(), (saved) => {
        expect(Object.keys(restoreState(document, saved))).toEqual(names);
      }),
    );
    expect(restoreState(document, Object.defineProperty({ f1: 'x' }, 'f0', { get: run, enumerable: true }))).toEqual(initialState(document));
    expect(run).not.toHaveBeenCalled();
    expect(restoreState(document, { f0: 'kept', f1: 7, other: 1 })).toMatchObject({ f0: 'kept', f1: '' });
  });

  test('what a keyboard leaves of a pair, and minus zero', () => {
    const numeric = judged({ state: { n: { type: 'number', default: 1 }, s: { type: 'string', default: '' } } });
    const state = initialState(numeric);
    expect(engine.write(numeric, state, 's', '\ud83d')).toEqual({ ok: false, code: 'document.out_of_domain' });
    expect(Object.is(updateState(numeric, state, { n: -0 }).n, 0)).toBe(true);
    expect(engine.write(numeric, state, 'n', NaN)).toMatchObject({ ok: false });
    expect(fault(() => updateState(numeric, state, { toString: 1 }))).toEqual(['unknown_field', '/toString']);
  });
});

describe('streams', () => {
  const first = judgeValue(documentOf({ root: { id: 'r', type: 'Stack', props: {} } }));
  const text = (id: string) => ({ id, type: 'Text', props: { text: id } });
  const patch = (seq: number, id: string, baseRevision = seq) => ({ generation: 'g', epoch: 1, seq, baseRevision, kind: 'patch' as FrameKind, body: [{ op: 'add', parent: 'r', index: 0, node: text(id) }] });
  const opened = () => openGeneration('g', first, 1);

  test('the same frame again changes nothing, another of its number is refused', () => {
    const { generation } = take(opened(), patch(1, 'a'));
    const again = take(generation, patch(1, 'a'));
    expect(again).toEqual({ outcome: 'repeated', generation });
    expect(again.generation).toBe(generation);
    expect(fault(() => take(generation, patch(1, 'b')))).toEqual(['frame_conflict', '/seq']);
  });

  test('a lost frame is noticed, and a checkpoint heals it', () => {
    const { generation } = take(opened(), patch(1, 'a'));
    expect(fault(() => take(generation, patch(3, 'c')))).toEqual(['frame_gap', '/seq']);
    const whole = documentOf({ root: { id: 'r', type: 'Stack', props: {}, children: [text('c'), text('b'), text('a')] } });
    const healed = take(generation, { ...patch(3, 'c'), kind: 'checkpoint', body: whole }).generation;
    expect(healed).toMatchObject({ seq: 3, revision: 4 });
    expect(take(healed, patch(2, 'b')).outcome).toBe('late');
  });

  test('an illegal patch keeps what is shown, and its number', () => {
    const generation = opened();
    expect(fault(() => take(generation, patch(1, 'r')))).toEqual(['duplicate_id', '/0/node/id']);
    expect(take(generation, patch(1, 'a')).outcome).toBe('accepted');
  });

  test('what ended takes nothing more, and only what is complete may ask for more than local actions', () => {
    for (const kind of ['complete', 'cancel'] as const) {
      const { generation } = take(opened(), { generation: 'g', epoch: 1, seq: 1, baseRevision: 1, kind });
      expect(mayInvoke(generation)).toBe(kind === 'complete');
      expect(take(generation, patch(2, 'a', 1))).toEqual({ outcome: 'late', generation });
    }
    expect(mayInvoke(opened())).toBe(false);
  });

  test('in whatever order frames arrive, what is shown is one of the snapshots, and seq never goes back', () => {
    const frames = ['a', 'b', 'c', 'd'].map((id, index) => patch(index + 1, id));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...frames), { maxLength: 12 }), (arriving) => {
        let generation = opened();
        for (const frame of arriving) {
          const { seq } = generation;
          if (fault(() => { generation = take(generation, frame).generation; }) !== 'taken') expect(frame.seq).toBeGreaterThan(seq + 1);
          expect(generation.seq).toBeGreaterThanOrEqual(seq);
          expect(generation.shown.document.root.children ?? []).toHaveLength(generation.seq);
        }
      }),
    );
  });
});

test('the digest without a platform is the digest with one', async () => {
  const encoder = new TextEncoder();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), async (value) => {
      expect(hex(sha256(encoder.encode(value)))).toBe(await digestOf(value));
    }),
  );
  // Around the edges of a block.
  for (const length of [0, 55, 56, 63, 64, 65, 119, 120, 128, 100_000]) expect(hex(sha256(encoder.encode('a'.repeat(length))))).toBe(await digestOf('a'.repeat(length)));
});

import { describe, expect, test } from 'vitest';
import { createBackoff, createDeclarations, createRegistry, PART_LIMIT, byteLength, windowOf, unavailableOf } from '../../src/core/index.js';
import { parseFrame, parsePayload } from '../../src/protocol/guards.js';
import examples from '../../../tests/conformance/page_frames.json' with { type: 'json' };
import { payloadOf, todo } from './support.js';

const welcome = { type: 'welcome', page: 'p', epoch: 1, resume: 'r', ping: 20_000, reauth: 600_000, in_page: false };

describe('guards', () => {
  test('a frame comes through with its known fields only', () => {
    expect(parseFrame(JSON.stringify({ ...welcome, added_later: 1 }))).toEqual(welcome);
  });

  test.each([
    '{',
    'null',
    '[]',
    '"welcome"',
    '{"type":"nonsense"}',
    '{"type":"summary"}',
    '{"type":"toString"}',
    '{"type":"__proto__"}',
    JSON.stringify({ ...welcome, epoch: '1' }),
    JSON.stringify({ ...welcome, ping: -1 }),
    JSON.stringify({ ...welcome, resume: undefined }),
    '{"type":"approve_update","approval":"a","state":"decide"}',
    '{"type":"approve_update","approval":"a","state":"time_up"}',
    '{"type":"caps_ack","seq":1,"accepted":[],"rejected":[]}',
    '{"type":"caps_ack","seq":1,"accepted":{},"rejected":[{"id":"a"}]}',
    '{"type":"describe","id":"1","limit":1,"offset":0,"ids":[1]}',
  ])('refuses %s', (raw) => {
    expect(parseFrame(raw)).toBeNull();
  });

  test.each(examples.gateway.good)('takes the $type of the shared examples as it is', (frame) => {
    expect(parseFrame(JSON.stringify(frame))).toEqual(frame);
  });

  test.each(['{"type":"app","instance":"i"}', '{"type":"app","op":"eval","instance":"i"}', '{"type":"app.close","op":"close","instance":"i","reason":""}'])(
    'refuses %s',
    (raw) => {
      expect(parseFrame(raw)).toBeNull();
    },
  );

  test('optional fields may be missing but not of another kind', () => {
    const update = { type: 'approve_update', approval: 'a', state: 'open' };
    expect(parseFrame(JSON.stringify(update))).toEqual(update);
    expect(parseFrame(JSON.stringify({ ...update, code: 1 }))).toBeNull();
  });

  test('a payload is whole or nothing', () => {
    const payload = payloadOf();
    expect(parsePayload(JSON.stringify(payload))).toEqual(payload);
    const { summary, ...rest } = payload;
    for (const broken of [
      { ...payload, v: 2 },
      rest,
      { ...payload, summary: { ...summary, verb: 'Approve' } },
      { ...payload, summary: { ...summary, arguments: [{ name: 'a' }] } },
      { ...payload, input: {} },
    ]) {
      expect(parsePayload(JSON.stringify(broken))).toBeNull();
    }
  });
});

describe('declarations', () => {
  const make = () => {
    const registry = createRegistry(() => undefined);
    const rejected: unknown[] = [];
    return { registry, rejected, declarations: createDeclarations(registry.all, (list) => rejected.push(...list)) };
  };

  test('a snapshot is cut into parts below the limit and loses nothing', () => {
    const { registry, declarations } = make();
    for (let i = 0; i < 60; i += 1) registry.register(todo({ id: `todo.a${i}`, description: '界'.repeat(4000) }));
    const frames = declarations.snapshot();
    expect(frames.length).toBeGreaterThan(1);
    frames.forEach((frame, index) => {
      expect(byteLength(JSON.stringify(frame))).toBeLessThanOrEqual(PART_LIMIT);
      expect(frame).toMatchObject({ seq: 1, part: index + 1, parts: frames.length });
    });
    expect(frames.flatMap((frame) => frame.capabilities)).toHaveLength(60);
  });

  test('no capabilities are a snapshot too', () => {
    expect(make().declarations.snapshot()).toEqual([{ type: 'caps', seq: 1, part: 1, parts: 1, capabilities: [] }]);
  });

  test('the same picture is not sent twice, except on a new connection', () => {
    const { registry, declarations } = make();
    registry.register(todo());
    expect(declarations.snapshot()).toHaveLength(1);
    registry.register(todo());
    expect(declarations.snapshot()).toEqual([]);
    declarations.reconnect();
    expect(declarations.snapshot()).toMatchObject([{ seq: 2 }]);
  });

  test('a fingerprint belongs to the declaration that was acknowledged, not to its name', () => {
    const { registry, declarations, rejected } = make();
    registry.register(todo());
    declarations.snapshot();
    const before = registry.find('todo.add')!;
    expect(declarations.fingerprint(before)).toBeUndefined();
    expect(declarations.ack({ type: 'caps_ack', seq: 1, accepted: { 'todo.add': 'f1' }, rejected: [{ id: 'x', code: 'c', pointer: '' }] })).toBe(true);
    expect(declarations.fingerprint(before)).toBe('f1');
    expect(rejected).toHaveLength(1);
    registry.register(todo({ description: 'Deletes everything.' }));
    expect(declarations.fingerprint(registry.find('todo.add')!)).toBeUndefined();
    registry.register(todo());
    expect(declarations.fingerprint(registry.find('todo.add')!)).toBe('f1');
  });

  test('an answer to an older snapshot is ignored', () => {
    const { registry, declarations } = make();
    declarations.snapshot();
    registry.register(todo());
    declarations.snapshot();
    expect(declarations.ack({ type: 'caps_ack', seq: 1, accepted: { 'todo.add': 'old' }, rejected: [] })).toBe(false);
    expect(declarations.fingerprint(registry.find('todo.add')!)).toBeUndefined();
  });
});

describe('context', () => {
  const records = ['a', 'b', 'c', 'd'].map((id) => ({ id, n: 1 }));

  test('ids are all there, fields come in windows', () => {
    expect(windowOf(() => ({ records }), { limit: 2, offset: 1 })).toEqual({
      records: [records[1], records[2]],
      recordIds: ['a', 'b', 'c', 'd'],
      recordWindow: { offset: 1, limit: 2, total: 4, next: 3 },
    });
    expect(windowOf({ records }, { limit: 2, offset: 2 }).recordWindow.next).toBeNull();
  });

  test('chosen ids narrow the records, not the ids', () => {
    const window = windowOf({ records }, { limit: 5, offset: 0, ids: ['d', 'b', 'zz'] });
    expect(window.records).toEqual([records[1], records[3]]);
    expect(window.recordIds).toHaveLength(4);
    expect(window.recordWindow.total).toBe(2);
  });

  test('a record that is not JSON is an error for the developer', () => {
    expect(() => windowOf({ records: [{ id: 'a', at: new Date(0) }] }, { limit: 1, offset: 0 })).toThrow('/at');
    expect(() => windowOf({ records: [{ id: 7 } as never] }, { limit: 1, offset: 0 })).toThrow('must be text');
  });

  test('a check that throws counts as a no', async () => {
    const boom = todo({ id: 'todo.boom', available: () => { throw new Error('x'); } });
    expect(await unavailableOf([todo(), boom, todo({ id: 'todo.no', available: () => 'later' })])).toEqual(['todo.boom', 'todo.no']);
  });
});

test('back-off grows, is capped, and is never the same for all', () => {
  const low = createBackoff(() => 0);
  const high = createBackoff(() => 1);
  expect([low.next(), low.next(), low.next()]).toEqual([250, 500, 1000]);
  expect([high.next(), high.next()]).toEqual([500, 1000]);
  for (let i = 0; i < 40; i += 1) high.next();
  expect(high.next()).toBe(30_000);
  high.reset();
  expect(high.next()).toBe(500);
});

import { describe, expect, test } from 'vitest';
import { createBucket, createHeights, judge, SURFACE_BYTES } from '../../src/apps/edge.js';
import { byteLength, OUTPUT_LIMIT } from '../../src/core/index.js';

const surface = { events: new Set(['draw', 'close']), handlers: false };
const app = { events: new Set<string>(), handlers: true };

const up = (message: object): string => JSON.stringify({ namespace: 'lineup.surface.v1', ...message });
const ofApp = (message: object): string => JSON.stringify({ namespace: 'ostiary.app.v1', ...message });
const draw = (data: unknown): string => up({ type: 'event', event: 'draw', data });

describe('what a surface may say', () => {
  test.each([
    [up({ type: 'ready' }), { type: 'ready' }],
    [draw({ d: 'M0 0' }), { type: 'event', event: 'draw', data: { d: 'M0 0' } }],
    [up({ type: 'resize', height: 320 }), { type: 'resize', height: 320 }],
    [JSON.stringify({ namespace: 'ostiary.frame.v1', type: 'pong', n: 2 }), { type: 'pong', n: 2 }],
  ])('%s', (message, word) => {
    expect(judge(message, surface)).toEqual(word);
  });

  test.each([
    ['an object instead of text', { namespace: 'lineup.surface.v1', type: 'ready' }],
    ['no JSON', 'ready'],
    ['another namespace', JSON.stringify({ namespace: 'lineup.surface.v2', type: 'ready' })],
    ['no namespace', JSON.stringify({ type: 'ready' })],
    ['another type', up({ type: 'app.call', capability: 'clipboard.write' })],
    ['the type it gets', up({ type: 'state', state: {} })],
    ['an event it did not declare', up({ type: 'event', event: 'erase', data: {} })],
    ['the reserved event, though declared', up({ type: 'event', event: 'close', data: {} })],
    ['data that is a list', draw([])],
    ['data that is missing', up({ type: 'event', event: 'draw' })],
    ['a field too many', up({ type: 'event', event: 'draw', data: {}, instance_id: 'other' })],
    ['an integer that would be rounded', '{"namespace":"lineup.surface.v1","type":"event","event":"draw","data":{"n":9007199254740993}}'],
    ['half of a surrogate pair', '{"namespace":"lineup.surface.v1","type":"event","event":"draw","data":{"s":"\\ud800"}}'],
    ['a height that is no integer', up({ type: 'resize', height: 3.5 })],
    ['a height that is text', up({ type: 'resize', height: '100' })],
    ['words of handlers', ofApp({ type: 'started', ref: 'call_a' })],
  ])('%s is dropped', (_, message) => {
    expect(judge(message, surface)).toBeNull();
  });

  test('data is taken up to 16,383 bytes, counted as UTF-8', () => {
    const sized = (bytes: number): object => ({ d: 'é'.repeat((bytes - 9) / 2) + 'a' });
    const last = sized(16_383);
    expect(byteLength(JSON.stringify(last))).toBe(16_383);
    expect(judge(draw(last), surface)).not.toBeNull();
    expect(judge(draw({ d: `${'é'.repeat((16_383 - 9) / 2)}aa` }), surface)).toBeNull();
  });

  test('a message is taken up to 20 KiB', () => {
    const padded = (bytes: number): string => up({ type: 'ready' }).padEnd(bytes, ' ');
    expect(judge(padded(SURFACE_BYTES), surface)).toEqual({ type: 'ready' });
    expect(judge(padded(SURFACE_BYTES + 1), surface)).toBeNull();
    // A surface of an app with handlers has no more room for what surfaces say.
    expect(judge(padded(SURFACE_BYTES + 1), app)).toBeNull();
  });
});

describe('what handlers may say', () => {
  test.each([
    [{ type: 'started', ref: 'call_a' }],
    [{ type: 'progress', ref: 'call_a', n: 1, total: 2, message: 'half' }],
    [{ type: 'result', ref: 'call_a', ok: true, output: { id: '1' } }],
    [{ type: 'result', ref: 'call_a', ok: false, error: { code: 'not_available', message: 'closed' } }],
    [{ type: 'request', id: 'r1', action: 'todo.add', input: { text: 'milk' } }],
    [{ type: 'session', id: 's1', revision: 0, data: {} }],
  ])('%j', (word) => {
    expect(judge(ofApp(word), app)).toEqual(word);
  });

  test.each([
    [{ type: 'started' }],
    [{ type: 'started', ref: '' }],
    [{ type: 'progress', ref: 'call_a', n: '1' }],
    [{ type: 'result', ref: 'call_a', ok: 'yes', output: 1 }],
    [{ type: 'request', id: 'r1', action: 'pin', input: {} }],
    [{ type: 'request', id: 'r1', action: 'todo.add', input: [] }],
    [{ type: 'request', id: 'r1', action: 'todo.add', input: {}, instance: 'other' }],
    [{ type: 'session', id: 's1', revision: -1, data: {} }],
    [{ type: 'session', id: 's1', revision: 0, data: 'text' }],
  ])('%j is dropped', (word) => {
    expect(judge(ofApp(word), app)).toBeNull();
  });

  test('a result that cannot be carried is a failure that says why', () => {
    const failed = judge('{"namespace":"ostiary.app.v1","type":"result","ref":"call_a","ok":true,"output":{"n":9007199254740993}}', app);
    expect(failed).toMatchObject({ ref: 'call_a', ok: false, error: { code: 'handler_error', message: expect.stringContaining('/n') } });
    const output = 'a'.repeat(OUTPUT_LIMIT - 2);
    expect(judge(ofApp({ type: 'result', ref: 'call_a', ok: true, output }), app)).toMatchObject({ ok: true });
    expect(judge(ofApp({ type: 'result', ref: 'call_a', ok: true, output: `${output}a` }), app)).toMatchObject({ ok: false });
  });

  test('an error code nobody knows is a failed handler', () => {
    expect(judge(ofApp({ type: 'result', ref: 'call_a', ok: false, error: { code: 'denied', message: '' } }), app)).toMatchObject({
      error: { code: 'handler_error', message: 'it failed' },
    });
  });
});

describe('how much', () => {
  const clock = (): { now: () => number; pass: (ms: number) => void } => {
    let at = 0;
    return { now: () => at, pass: (ms) => void (at += ms) };
  };

  test('a bucket gives its burst, then its rate', () => {
    const { now, pass } = clock();
    const bucket = createBucket(30, 60, now);
    const taken = (times: number): number => Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
    expect(taken(100)).toBe(60);
    pass(500);
    expect(taken(100)).toBe(15);
    pass(60_000);
    expect(taken(100)).toBe(60);
  });

  test('a height is kept between the bounds, and small changes are none', () => {
    const { now } = clock();
    const heights = createHeights(() => 500, now);
    expect([1, 300, 304, 305, 9_999].map(heights)).toEqual([40, 300, undefined, 305, 500]);
  });

  test('a frame that never rests keeps the height it has', () => {
    const { now, pass } = clock();
    const heights = createHeights(() => 30_000, now);
    let taken = 0;
    for (let wanted = 100; wanted < 25_000; wanted += 50) {
      pass(50);
      if (heights(wanted) !== undefined) taken += 1;
    }
    expect(taken).toBeLessThan(230);
    pass(60_000);
    expect(heights(5_000)).toBeUndefined();
  });
});

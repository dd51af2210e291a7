import { describe, expect, test, vi } from 'vitest';
import { run, OUTPUT_LIMIT, type Capability } from '../../src/core/index.js';
import { todo } from './support.js';

const go = (capability: Capability, over: Partial<Parameters<typeof run>[1]> = {}) =>
  run(capability, {
    input: '{"text":"milk"}',
    ref: 'call_1',
    signal: new AbortController().signal,
    progress: () => undefined,
    trace: () => undefined,
    settle: () => Promise.resolve(),
    ...over,
  });

describe('pipeline', () => {
  test('the steps come in their order', async () => {
    const steps: string[] = [];
    const say = <T>(step: string, value: T): T => (steps.push(step), value);
    const ending = await go(
      todo({
        observe: () => say('observe', steps.length),
        handler: () => say('handler', 1),
        settle: () => say('settle', undefined),
        success: () => say('success', true),
        evidence: () => say('evidence', { ok: true }),
      }),
    );
    expect(steps).toEqual(['observe', 'handler', 'settle', 'observe', 'success', 'evidence']);
    expect(ending).toEqual({ ok: true, output: 1, evidence: { ok: true } });
  });

  test('before is a copy: a page that changes its state in place still shows a difference', async () => {
    const todos = ['a'];
    const ending = await go(todo({ observe: () => todos, handler: () => void todos.push('b') }));
    expect(ending).toEqual({ ok: true, output: null, evidence: { before: ['a'], after: ['a', 'b'] } });
  });

  test('without a settle of its own a capability waits one turn', async () => {
    const settle = vi.fn(() => Promise.resolve());
    await go(todo(), { settle });
    expect(settle).toHaveBeenCalledOnce();
  });

  test.each<[Capability['success'], string]>([
    [() => false, 'the page could not confirm the outcome'],
    [() => 'still two items', 'still two items'],
    [() => { throw new Error('no state'); }, 'the outcome could not be confirmed: no state'],
  ])('a criterion that fails is not_achieved', async (success, message) => {
    expect(await go(todo({ success: success! }))).toEqual({ ok: false, code: 'not_achieved', message });
  });

  test('what a handler throws is its error, up to 500 characters', async () => {
    const ending = await go(todo({ handler: () => { throw new Error('x'.repeat(900)); } }));
    expect(ending).toEqual({ ok: false, code: 'handler_error', message: 'x'.repeat(500) });
  });

  test('output that is not JSON names its place and that the action ran', async () => {
    const ending = await go(todo({ handler: () => ({ rows: [{ price: NaN }] }) }));
    expect(ending).toMatchObject({ ok: false, code: 'handler_error', message: expect.stringMatching(/action ran.*`\/rows\/0\/price`: NaN/) });
  });

  test('output is judged by bytes at the edge', async () => {
    const of = (length: number) => go(todo({ handler: () => 'x'.repeat(length - 2) }));
    expect(await of(OUTPUT_LIMIT)).toMatchObject({ ok: true });
    expect(await of(OUTPUT_LIMIT + 1)).toMatchObject({ ok: false, code: 'handler_error' });
  });

  test('evidence that cannot be sent leaves a note and the result', async () => {
    expect(await go(todo({ evidence: () => ({ at: new Date(0) }) }))).toEqual({
      ok: true,
      output: { added: true },
      evidence: { omitted: 'not JSON at `/at`: not a plain object' },
    });
    expect(await go(todo({ evidence: () => { throw new Error('gone'); } }))).toMatchObject({ ok: true, evidence: { omitted: 'gone' } });
  });

  test('each step gets arguments of its own', async () => {
    const seen: unknown[] = [];
    await go(
      todo({
        handler: (input) => void ((input as { text: string }).text = 'changed'),
        success: ({ input }) => void seen.push(input),
        evidence: ({ input }) => void seen.push(input),
      }),
    );
    expect(seen).toEqual([{ text: 'milk' }, { text: 'milk' }]);
  });

  test('an aborted handler that throws is cancelled, one that finishes has finished', async () => {
    const controller = new AbortController();
    const wait = (after: () => unknown) =>
      go(todo({ handler: async (_, { signal }) => (controller.abort(), await Promise.resolve(), signal.aborted ? after() : 0) }), { signal: controller.signal });
    expect(await wait(() => { throw new Error('stopped'); })).toEqual({ ok: false, code: 'cancelled', message: 'stopped' });
  });

  test('progress only grows and its message is short', async () => {
    const progress = vi.fn();
    await go(
      todo({
        handler: (_, context) => {
          context.progress(1, 3, 'm'.repeat(300));
          context.progress(1);
          context.progress(NaN);
          context.progress(2, Infinity);
        },
      }),
      { progress },
    );
    expect(progress.mock.calls).toEqual([
      [1, 3, 'm'.repeat(200)],
      [2, undefined, undefined],
    ]);
  });
});

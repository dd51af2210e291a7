import { describe, expect, test, vi } from 'vitest';
import { bench, invokeOf, payloadOf, todo } from './support.js';

const types = (frames: readonly { type: string }[]): string[] => frames.map(({ type }) => type);

async function approved(over: Parameters<typeof payloadOf>[0] = {}) {
  const world = bench();
  world.registry.register(todo({ confirm: 'always' }));
  const payload = payloadOf(over);
  await world.calls.approveRequest(payload, JSON.stringify(payload), 60_000);
  world.queue.decide(payload.approval, { decision: 'approve', visible: true });
  world.queue.event(payload.approval, 'approved');
  return world;
}

describe('calls', () => {
  test('an invoke runs once, and a repeat gets the kept result', async () => {
    const { calls, sent, registry } = bench();
    const handler = vi.fn(() => ({ n: 1 }));
    registry.register(todo({ handler }));
    await calls.invoke(invokeOf());
    await calls.invoke(invokeOf());
    expect(handler).toHaveBeenCalledOnce();
    expect(types(sent)).toEqual(['started', 'result', 'result']);
    expect(sent[1]).toEqual({ type: 'result', ref: 'call_1', epoch: 1, ok: true, output: { n: 1 } });
  });

  test('a handler sees the place in its caller\'s trace, and what it names goes back', async () => {
    const { calls, sent, registry } = bench();
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const own = '00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01';
    registry.register(todo({ handler: (_, context) => (context.trace(own), { seen: context.traceparent }) }));
    await calls.invoke(invokeOf({ traceparent }));
    expect(sent[1]).toEqual({ type: 'result', ref: 'call_1', epoch: 1, ok: true, output: { seen: traceparent }, traceparent: own });
  });

  test('a repeat while it runs is answered with started', async () => {
    const { calls, sent, registry } = bench();
    let finish = (): void => undefined;
    registry.register(todo({ handler: () => new Promise<void>((resolve) => (finish = resolve)) }));
    const running = calls.invoke(invokeOf());
    await vi.waitFor(() => expect(types(sent)).toEqual(['started']));
    await calls.invoke(invokeOf());
    expect(types(sent)).toEqual(['started', 'started']);
    finish();
    await running;
    expect(types(sent)).toEqual(['started', 'started', 'result']);
  });

  test.each([
    ['stale_epoch', { epoch: 2 }],
    ['unknown_capability', { capability: 'todo.remove' }],
    ['stale_fingerprint', { fingerprint: 'older' }],
    ['arguments_invalid', { input: '{' }],
  ])('%s is refused and nothing runs', async (why, over) => {
    const { calls, sent, registry } = bench();
    const handler = vi.fn();
    registry.register(todo({ handler }));
    await calls.invoke(invokeOf(over));
    expect(sent).toEqual([{ type: 'refused', ref: 'call_1', why }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test.each([
    ['not_available', { available: () => 'the list is locked' }, 'the list is locked'],
    ['not_available', { available: () => { throw new Error('boom'); } }, 'boom'],
    ['arguments_invalid', { validate: () => 'text is empty' }, 'text is empty'],
  ])('%s is refused with the page’s reason', async (why, over, message) => {
    const { calls, sent, registry } = bench();
    registry.register(todo(over));
    await calls.invoke(invokeOf());
    expect(sent).toEqual([{ type: 'refused', ref: 'call_1', why, message }]);
  });

  test('a capability that always asks runs only with the approval given here', async () => {
    const { calls, sent } = await approved();
    await calls.invoke(invokeOf({ approval: 'ap_1' }));
    expect(types(sent)).toEqual(['started', 'result']);
  });

  test.each([
    ['no approval', {}, 'approval_missing'],
    ['an approval nobody gave here', { approval: 'ap_9' }, 'approval_missing'],
    ['other arguments', { approval: 'ap_1', input: '{"text":"wine"}' }, 'input_differs'],
    ['another call', { approval: 'ap_1', ref: 'call_2' }, 'approval_missing'],
  ])('with %s it is refused', async (_, over, why) => {
    const { calls, sent } = await approved();
    await calls.invoke(invokeOf(over));
    expect(sent.at(-1)).toMatchObject({ type: 'refused', why });
  });

  test('a denied approval is none', async () => {
    const { calls, sent, registry, queue } = bench();
    registry.register(todo());
    const payload = payloadOf();
    await calls.approveRequest(payload, 'text', 60_000);
    queue.decide('ap_1', { decision: 'deny', visible: true });
    await calls.invoke(invokeOf({ approval: 'ap_1' }));
    expect(sent.at(-1)).toMatchObject({ type: 'refused', why: 'approval_missing' });
  });

  test('after dispatch nobody is asked again', async () => {
    const { calls, queue } = await approved();
    await calls.invoke(invokeOf({ approval: 'ap_1' }));
    expect(queue.open()).toEqual([]);
  });

  test.each([
    ['not_available', todo({ available: () => false }), {}],
    ['arguments_invalid', todo({ validate: () => false }), {}],
    ['stale_epoch', todo(), { epoch: 9 }],
    ['stale_epoch', todo(), { page: 'other' }],
    ['stale_fingerprint', todo(), { fingerprint: 'older' }],
    ['unknown_capability', todo({ id: 'todo.other' }), {}],
    ['arguments_invalid', todo(), { input: '{"text":"something else"}' }],
    ['arguments_invalid', todo(), { input: '{"text":"milk","hidden":1}' }],
  ])('an approve request that is %s opens no dialog', async (why, capability, over) => {
    const { calls, sent, registry, queue } = bench();
    registry.register(capability);
    await calls.approveRequest(payloadOf(over), 'text', 60_000);
    expect(sent).toEqual([expect.objectContaining({ type: 'refused', ref: 'call_1', why })]);
    expect(queue.shown()).toBeUndefined();
  });

  test('what runs elsewhere is asked of the person alone, with the same care for what is shown', async () => {
    const { calls, sent, registry, queue } = bench();
    registry.register(todo({ available: () => false }));
    await calls.approveRequest(payloadOf({ capability: 'pomodoro.start' }), 'text', 60_000, true);
    expect(queue.shown()?.payload.capability).toBe('pomodoro.start');
    await calls.approveRequest(payloadOf({ approval: 'ap_2', input: '{"text":"something else"}' }), 'text', 60_000, true);
    await calls.approveRequest(payloadOf({ approval: 'ap_3', input: '{' }), 'text', 60_000, true);
    await calls.approveRequest(payloadOf({ approval: 'ap_4', epoch: 9 }), 'text', 60_000, true);
    expect(sent.map((frame) => 'why' in frame && frame.why)).toEqual(['arguments_invalid', 'arguments_invalid', 'stale_epoch']);
    expect(queue.open()).toHaveLength(1);
  });

  test('a repeated approve request gives the answer again and opens nothing twice', async () => {
    const { calls, sent, registry, queue } = bench();
    registry.register(todo());
    const payload = payloadOf();
    await Promise.all([calls.approveRequest(payload, 'text', 1), calls.approveRequest(payload, 'text', 1)]);
    expect(queue.open()).toHaveLength(1);
    queue.decide('ap_1', { decision: 'approve', visible: true });
    await calls.approveRequest(payload, 'text', 1);
    expect(sent).toEqual([{ type: 'decision', approval: 'ap_1', nonce: 'n_1', sha256: 'hash:4', decision: 'approve', visible: true }]);
  });

  test('what was finished offline is sent after the reconnect, until it is acknowledged', async () => {
    const { calls, sent, registry, queue, state } = bench();
    registry.register(todo());
    await calls.approveRequest(payloadOf({ approval: 'ap_2', ref: 'call_9' }), 'text', 60_000);
    state.online = false;
    await calls.invoke(invokeOf());
    queue.decide('ap_2', { decision: 'deny', visible: true });
    expect(sent).toEqual([]);
    state.online = true;
    calls.resume();
    expect(types(sent)).toEqual(['result', 'decision']);
    calls.ack('call_1');
    queue.event('ap_2', 'denied');
    calls.resume();
    expect(sent).toHaveLength(2);
    expect(calls.seen()).toContain('call_1');
  });

  test('another page session gets nothing of the former one', async () => {
    const { calls, sent, registry, state } = bench();
    const signals: AbortSignal[] = [];
    let finish = (): void => undefined;
    registry.register(todo({ handler: (_, { signal }) => (signals.push(signal), new Promise<void>((resolve) => (finish = resolve))) }));
    const running = calls.invoke(invokeOf());
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    state.page = 'page-2';
    calls.abandon();
    finish();
    await running;
    calls.resume();
    expect(types(sent)).toEqual(['started']);
    expect(signals[0]?.aborted).toBe(true);
  });

  test('cancel and the deadline reach the handler', async () => {
    for (const stop of ['cancel', 'deadline'] as const) {
      const { calls, sent, registry, alarms } = bench();
      registry.register(
        todo({ handler: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))) }),
      );
      const running = calls.invoke(invokeOf());
      await vi.waitFor(() => expect(types(sent)).toEqual(['started']));
      if (stop === 'cancel') calls.cancel('call_1');
      else alarms[0]?.();
      await running;
      expect(sent.at(-1)).toMatchObject({ type: 'result', ok: false, error: { code: 'cancelled' } });
    }
  });

  test('no step of a call waits for a timer', async () => {
    vi.useFakeTimers();
    try {
      const { calls, sent, registry } = bench();
      registry.register(todo({ observe: () => 1, success: () => true, available: () => true, validate: () => true }));
      await calls.invoke(invokeOf());
      expect(types(sent)).toEqual(['started', 'result']);
    } finally {
      vi.useRealTimers();
    }
  });
});

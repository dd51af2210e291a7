import { describe, expect, test, vi } from 'vitest';
import { createDeclarations, createHosted, createRegistry, run, type Pack } from '../../src/core/index.js';
import { createTestHost } from '../../src/testing/index.js';
import { invokeOf, todo } from './support.js';

const pack = (over: Partial<Pack> = {}): Pack => ({ available: () => true, run: (id, input) => Promise.resolve({ id, input }), ...over });

describe('what the host itself can do', () => {
  test('is named in the first part of a snapshot, and not worded', () => {
    const registry = createRegistry(() => undefined);
    for (let i = 0; i < 60; i += 1) registry.register(todo({ id: `todo.a${i}`, description: '界'.repeat(4000) }));
    const hosted = createHosted(['app.open_url', 'clipboard.write'], () => Promise.resolve(pack()));
    const frames = createDeclarations(registry.all, () => undefined, hosted).snapshot();
    expect(frames.length).toBeGreaterThan(1);
    expect(frames.map(({ host }) => host)).toEqual([['app.open_url', 'clipboard.write'], ...frames.slice(1).map(() => undefined)]);
    expect(JSON.stringify(frames)).not.toContain('"id":"app.open_url"');
  });

  test('answers to its name whatever the page registers under it', () => {
    const registry = createRegistry(() => undefined);
    registry.register(todo({ id: 'app.open_url' }));
    const hosted = createHosted(['app.open_url'], () => Promise.resolve(pack()));
    const declarations = createDeclarations(registry.all, () => undefined, hosted);
    const [frame] = declarations.snapshot();
    expect(frame).toMatchObject({ capabilities: [], host: ['app.open_url'] });
    declarations.ack({ type: 'caps_ack', seq: 1, accepted: { 'app.open_url': 'theirs' }, rejected: [] });
    expect(declarations.fingerprint(registry.find('app.open_url')!)).toBeUndefined();
    expect(declarations.fingerprint(hosted.get('app.open_url')!)).toBe('theirs');
  });

  test('is loaded when it is asked for, before the prompt, and once is enough', async () => {
    const load = vi.fn(() => Promise.resolve(pack({ available: () => 'not here' })));
    const hosted = createHosted(['notification.show'], load);
    expect(load).not.toHaveBeenCalled();
    expect(await hosted.get('notification.show')!.capability.available?.()).toBe('not here');
    expect(load).toHaveBeenCalledOnce();
  });

  test('a person who puts a picker aside has cancelled, and did not fail', async () => {
    const capability = todo({ handler: () => Promise.reject(new DOMException('', 'AbortError')) });
    const ending = await run(capability, {
      input: '{}',
      ref: 'call_1',
      trace: () => undefined,
      signal: new AbortController().signal,
      progress: () => undefined,
      settle: () => Promise.resolve(),
    });
    expect(ending).toMatchObject({ ok: false, code: 'cancelled' });
  });

  test('runs for a call the gateway dispatched, with the fingerprint it was given', async () => {
    const { gateway } = createTestHost({ site: 'hosted' });
    const connection = await gateway.connection();
    const { host } = await connection.next('caps');
    expect(host).toContain('app.open_url');
    connection.send(invokeOf({ capability: 'app.open_url', fingerprint: 'another', input: '{"url":"https://example.test/"}' }));
    expect(await connection.next('refused')).toMatchObject({ why: 'stale_fingerprint' });
    connection.send(invokeOf({ ref: 'call_2', capability: 'app.open_url', fingerprint: gateway.fingerprint('app.open_url'), input: '{"url":"javascript:1"}' }));
    expect(await connection.next('result')).toMatchObject({ ref: 'call_2', ok: false, error: { code: 'handler_error' } });
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestHost, type FakeConnection, type FakeGatewayOptions, type TestHost } from '../../src/testing/index.js';
import type { SurfaceHostOptions } from '../../src/index.js';
import { invokeOf, payloadOf, todo } from './support.js';

let open: TestHost[] = [];
let site = 0;

function start(options: Partial<SurfaceHostOptions> = {}, gateway: FakeGatewayOptions = {}): TestHost {
  site += 1;
  const made = createTestHost({ site: `site-${site}`, badge: false, ...options }, gateway);
  open.push(made);
  return made;
}

const ready = async ({ host, gateway }: TestHost, index = 0): Promise<FakeConnection> => {
  const connection = await gateway.connection(index);
  await vi.waitFor(() => expect(host.status.state).toBe('connected'));
  return connection;
};

const send = (connection: FakeConnection, over: Parameters<typeof invokeOf>[0] = {}) =>
  connection.send(invokeOf({ fingerprint: 'fp-todo.add', ...over }));

const hide = (name: 'pagehide' | 'pageshow', persisted = true) => dispatchEvent(Object.assign(new Event(name), { persisted }));

/** A Web Locks manager that always gives this answer; the test environment has none. */
const locksAnswer = (lock: object | null) =>
  Object.defineProperty(navigator, 'locks', {
    value: { request: (_: string, __: unknown, granted: (lock: object | null) => unknown) => Promise.resolve(granted(lock)) },
    configurable: true,
  });

beforeEach(() => sessionStorage.clear());
afterEach(() => {
  for (const { host } of open) host.close();
  open = [];
  vi.useRealTimers();
  Reflect.deleteProperty(navigator, 'locks');
});

describe('channel', () => {
  test('hello comes first and carries neither query nor fragment', async () => {
    history.replaceState(null, '', '/shop?token=1#part');
    const world = start();
    const connection = await ready(world);
    expect(connection.url).toBe('wss://gateway.example/page/v1');
    expect(connection.received[0]).toMatchObject({ type: 'hello', v: 1, ticket: 'ticket', seen: [] });
    const hello = await connection.next('hello');
    expect(hello.url).toMatch(/\/shop$/);
    expect(hello.doc).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
    expect(hello).not.toHaveProperty('resume');
  });

  test('registrations of one turn become one snapshot; the next waits for the answer', async () => {
    const world = start({}, { automatic: false });
    const connection = await world.gateway.connection();
    world.host.register(todo());
    await connection.next('hello');
    connection.send({ type: 'welcome', page: 'p', epoch: 1, resume: 'r', ping: 0, reauth: 0, in_page: false });
    const first = await connection.next('caps');
    expect(first.capabilities.map(({ id }) => id)).toEqual(['todo.add']);
    world.host.register(todo({ id: 'todo.a' }));
    world.host.register(todo({ id: 'todo.b' }));
    await new Promise((resolve) => setTimeout(resolve));
    expect(connection.received.filter(({ type }) => type === 'caps')).toHaveLength(1);
    connection.send({ type: 'caps_ack', seq: first.seq, accepted: {}, rejected: [] });
    expect((await connection.next('caps')).capabilities.map(({ id }) => id)).toEqual(['todo.add', 'todo.a', 'todo.b']);
  });

  test('a call goes through and its result comes again after a reconnect until it is acknowledged', async () => {
    const world = start();
    world.host.register(todo());
    const connection = await ready(world);
    await connection.next('caps');
    await new Promise((resolve) => setTimeout(resolve));
    send(connection);
    const result = await connection.next('result');
    vi.spyOn(Math, 'random').mockReturnValue(0);
    connection.end(1006);
    const second = await world.gateway.connection(1);
    const hello = await second.next('hello');
    expect(hello).toMatchObject({ doc: (connection.received[0] as { doc: string }).doc, resume: 'resume-1', seen: ['call_1'] });
    expect(await second.next('result')).toEqual(result);
  });

  test('a refused ticket is replaced once at once, then the host waits', async () => {
    const getTicket = vi.fn(() => Promise.resolve('t'));
    const world = start({ getTicket }, { automatic: false });
    (await world.gateway.connection(0)).end(4401);
    const second = await world.gateway.connection(1);
    expect(getTicket).toHaveBeenCalledTimes(2);
    second.end(4401);
    await vi.waitFor(() => expect(world.host.status).toEqual({ state: 'waiting', code: 'ticket_refused' }));
    expect(world.gateway.connections).toHaveLength(2);
  });

  test('a refused origin stops for good', async () => {
    const world = start({}, { automatic: false });
    (await world.gateway.connection()).end(4403);
    await vi.waitFor(() => expect(world.host.status).toEqual({ state: 'stopped', code: 'origin_refused' }));
    dispatchEvent(new Event('online'));
    expect(world.gateway.connections).toHaveLength(1);
  });

  test('a replaced document stops when a newer one of the tab has the session', async () => {
    locksAnswer({});
    const world = start();
    const connection = await ready(world);
    const [key = ''] = Object.keys(sessionStorage);
    sessionStorage.setItem(key, JSON.stringify({ page: 'page-1', resume: 'resume-2', doc: 'a-newer-document-0' }));
    connection.end(4409);
    await vi.waitFor(() => expect(world.host.status).toEqual({ state: 'stopped', code: 'replaced' }));
  });

  test('a replaced document that is still the newest of its tab comes back', async () => {
    locksAnswer({});
    const world = start();
    (await ready(world)).end(4409);
    await vi.waitFor(() => expect(world.host.status).toEqual({ state: 'waiting', code: 'unreachable' }));
  });

  test('a duplicated tab does not continue the session it copied', async () => {
    locksAnswer(null);
    sessionStorage.setItem(`ostiary:https://gateway.example|site-${site + 1}`, JSON.stringify({ page: 'page-1', resume: 'copied', doc: 'the-other-document' }));
    const connection = await ready(start());
    expect(connection.received[0]).not.toHaveProperty('resume');
  });

  test('into the back/forward cache and back: bye, 4000, the same document at once, and late events change nothing', async () => {
    const world = start();
    const connection = await ready(world);
    const states: string[] = [];
    world.host.on('status', ({ state }) => states.push(state));
    hide('pagehide');
    expect(connection.received.at(-1)).toEqual({ type: 'bye', why: 'pagehide' });
    expect(connection.closedWith).toBe(4000);
    hide('pageshow');
    const second = await ready(world, 1);
    // The fake delivers the old close event late, as browsers do.
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(states).toEqual(['waiting', 'connecting', 'connected']);
    expect(second.open).toBe(true);
    expect(world.gateway.connections).toHaveLength(2);
    expect((second.received[0] as { doc: string }).doc).toBe((connection.received[0] as { doc: string }).doc);
  });

  test('a ticket is renewed in band before its time', async () => {
    vi.useFakeTimers();
    let n = 0;
    const world = start({ getTicket: () => Promise.resolve(`t${(n += 1)}`) }, { welcome: { reauth: 100_000 } });
    const connection = await world.gateway.connection();
    await vi.advanceTimersByTimeAsync(79_000);
    expect(connection.received.some(({ type }) => type === 'ticket')).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(connection.received.at(-1)).toEqual({ type: 'ticket', ticket: 't2' });
    expect(connection.open).toBe(true);
    await vi.advanceTimersByTimeAsync(80_000);
    expect(connection.received.at(-1)).toEqual({ type: 'ticket', ticket: 't3' });
  });

  test('a gateway that stopped pinging is left', async () => {
    vi.useFakeTimers();
    const world = start({}, { welcome: { ping: 1000 } });
    const connection = await world.gateway.connection();
    await vi.advanceTimersByTimeAsync(2000);
    connection.send({ type: 'ping', n: 7 });
    await vi.advanceTimersByTimeAsync(0);
    expect(connection.received.at(-1)).toMatchObject({ type: 'pong', n: 7 });
    await vi.advanceTimersByTimeAsync(1500);
    expect(connection.open).toBe(true);
    await vi.advanceTimersByTimeAsync(4000);
    expect(connection.open).toBe(false);
  });

  test('a bad frame is answered and the socket stays', async () => {
    const world = start();
    const connection = await ready(world);
    connection.sendRaw('{"type":"invoke"}');
    expect(await connection.next('error')).toEqual({ type: 'error', code: 'bad_frame' });
    expect(connection.open).toBe(true);
  });

  test('two hosts for one site in a document are one', async () => {
    const world = start();
    const again = createTestHost({ site: `site-${site}` });
    expect(again.host).toBe(world.host);
  });

  test('another page session gets neither results nor prompts of the former', async () => {
    const world = start({}, { automatic: false });
    world.host.register(todo());
    const welcome = (connection: FakeConnection, page: string) =>
      connection.send({ type: 'welcome', page, epoch: 1, resume: 'r', ping: 0, reauth: 0, in_page: false });
    const ack = async (connection: FakeConnection) => {
      const caps = await connection.next('caps');
      connection.send({ type: 'caps_ack', seq: caps.seq, accepted: { 'todo.add': 'fp-todo.add' }, rejected: [] });
    };
    const first = await world.gateway.connection();
    await first.next('hello');
    welcome(first, 'page-1');
    await ack(first);
    send(first);
    await first.next('result');
    first.send({ type: 'approve_request', payload: JSON.stringify(payloadOf({ ref: 'call_2', fingerprint: 'fp-todo.add' })), remaining: 60_000 });
    const dialog = () => [...document.documentElement.children].map((node) => node.shadowRoot?.querySelector('dialog')).find(Boolean);
    await vi.waitFor(() => expect(dialog()?.open).toBe(true));
    hide('pagehide');
    hide('pageshow');
    const second = await world.gateway.connection(1);
    await second.next('hello');
    welcome(second, 'page-2');
    await ack(second);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(second.received.map(({ type }) => type)).toEqual(['hello', 'caps']);
    expect(dialog()?.open).toBe(false);
  });
});

describe('describe and the in-page client', () => {
  test('describe answers with a window of the records', async () => {
    const world = start();
    world.host.register(todo({ available: () => false }));
    world.host.setContext(() => ({ records: [{ id: 'a' }, { id: 'b' }] }));
    const connection = await ready(world);
    connection.send({ type: 'describe', id: 'd', limit: 1, offset: 0 });
    expect(await connection.next('described')).toEqual({
      type: 'described',
      id: 'd',
      context: { records: [{ id: 'a' }], recordIds: ['a', 'b'], recordWindow: { offset: 0, limit: 1, total: 2, next: 1 } },
      unavailable: ['todo.add'],
    });
  });

  test('records that do not fit a frame come in a smaller window', async () => {
    const world = start();
    world.host.setContext({ records: Array.from({ length: 8 }, (_, i) => ({ id: `r${i}`, text: 'x'.repeat(300_000) })) });
    const connection = await ready(world);
    connection.send({ type: 'describe', id: 'd', limit: 8, offset: 0 });
    const { context } = await connection.next('described');
    expect(context?.records).toHaveLength(4);
    expect(context?.recordWindow).toEqual({ offset: 0, limit: 4, total: 8, next: 4 });
  });

  test('a context that is not JSON is null and told to the developer', async () => {
    const world = start();
    const errors: unknown[] = [];
    world.host.on('error', (error) => errors.push(error));
    world.host.setContext({ records: [{ id: 'a', at: new Date(0) }] });
    const connection = await ready(world);
    connection.send({ type: 'describe', id: 'd', limit: 1, offset: 0 });
    expect((await connection.next('described')).context).toBeNull();
    expect(errors).toMatchObject([{ code: 'context_invalid' }]);
  });

  test('no port where the gateway allows no in-page client', async () => {
    const world = start();
    await ready(world);
    expect(() => world.host.openSurface()).toThrow('in-page');
  });

  test('each envelope gets exactly its answer, also when the connection goes away', async () => {
    const world = start({}, { welcome: { in_page: true } });
    const connection = await ready(world);
    const port = world.host.openSurface();
    const answers: unknown[] = [];
    port.onmessage = ({ data }: MessageEvent<unknown>) => answers.push(data);
    port.postMessage({ protocol: 'pling.surface/0.1', id: 'req_1', method: 'describe', input: {} });
    const frame = await connection.next('surface');
    expect(frame.envelope).toMatchObject({ id: 'req_1', method: 'describe' });
    connection.send({ type: 'surface_reply', id: frame.id, envelope: { id: 'req_1', ok: true } });
    connection.send({ type: 'surface_reply', id: frame.id, envelope: { id: 'req_1', ok: true, twice: true } });
    port.postMessage({ protocol: 'pling.surface/0.1', id: 'req_2', method: 'invoke', input: {} });
    await connection.next('surface');
    connection.end(1006);
    port.postMessage('no envelope');
    await vi.waitFor(() => expect(answers).toHaveLength(3));
    expect(answers).toEqual([
      { id: 'req_1', ok: true },
      expect.objectContaining({ id: 'req_2', ok: false, error: expect.objectContaining({ code: 'outcome_unknown' }) }),
      expect.objectContaining({ id: null, ok: false, error: expect.objectContaining({ code: 'BAD_REQUEST' }) }),
    ]);
  });
});

/** A gateway in memory: enough of the page channel to drive a host in a test, frame by frame. */

import type { Socket } from '../channel/channel.js';
import type { InFrame, OutFrame } from '../protocol/frames.js';

export type FrameOf<T extends OutFrame['type']> = Extract<OutFrame, { type: T }>;

export interface FakeConnection {
  readonly url: string;
  /** Everything the page sent over this socket, in order. */
  readonly received: readonly OutFrame[];
  readonly open: boolean;
  /** How the page closed it, if it did. */
  readonly closedWith: number | undefined;
  send(frame: InFrame): void;
  sendRaw(text: string): void;
  /** Ends the socket from the gateway's side. */
  end(code: number): void;
  /** The next frame of this kind that was not handed out yet. */
  next<T extends OutFrame['type']>(type: T): Promise<FrameOf<T>>;
}

export interface FakeGatewayOptions {
  readonly welcome?: Partial<Extract<InFrame, { type: 'welcome' }>>;
  /** Answers `hello` and `caps` by itself (default). */
  readonly automatic?: boolean;
}

export interface FakeGateway {
  readonly connections: readonly FakeConnection[];
  readonly openSocket: (url: string) => Socket;
  connection(index?: number): Promise<FakeConnection>;
  /** What `caps_ack` calls a capability. */
  fingerprint(id: string): string;
}

export function createFakeGateway(options: FakeGatewayOptions = {}): FakeGateway {
  const connections: FakeConnection[] = [];
  const waiters: (() => void)[] = [];
  const fingerprint = (id: string): string => `fp-${id}`;
  const welcome: InFrame = { type: 'welcome', page: 'page-1', epoch: 1, resume: 'resume-1', ping: 0, reauth: 0, in_page: false, ...options.welcome };
  let collected: Record<string, string> = {};

  const openSocket = (url: string): Socket => {
    const received: OutFrame[] = [];
    const handed = new Set<OutFrame>();
    const wanted: (() => void)[] = [];
    let readyState: Socket['readyState'] = 0;
    let closedWith: number | undefined;

    const finish = (code: number): void => {
      if (readyState === 3) return;
      readyState = 3;
      queueMicrotask(() => socket.onclose?.call(socket as WebSocket, new CloseEvent('close', { code })));
    };
    const sendRaw = (data: string): void => {
      if (readyState === 1) socket.onmessage?.call(socket as WebSocket, new MessageEvent('message', { data }));
    };
    const send = (frame: InFrame): void => sendRaw(JSON.stringify(frame));

    const answer = (frame: OutFrame): void => {
      if (options.automatic === false) return;
      if (frame.type === 'hello') send(welcome);
      if (frame.type !== 'caps') return;
      if (frame.part === 1) collected = {};
      for (const id of frame.host ?? []) collected[id] = fingerprint(id);
      for (const { id } of frame.capabilities) collected[id] = fingerprint(id);
      if (frame.part === frame.parts) send({ type: 'caps_ack', seq: frame.seq, accepted: collected, rejected: [] });
    };

    const socket: Socket = {
      get readyState() {
        return readyState;
      },
      onopen: null,
      onmessage: null,
      onclose: null,
      send(text) {
        const frame = JSON.parse(String(text)) as OutFrame;
        received.push(frame);
        queueMicrotask(() => answer(frame));
        for (const wake of wanted.splice(0)) wake();
      },
      close(code = 1005) {
        closedWith ??= code;
        finish(code);
      },
    };

    const connection: FakeConnection = {
      url,
      received,
      get open() {
        return readyState === 1;
      },
      get closedWith() {
        return closedWith;
      },
      send,
      sendRaw,
      end: finish,
      async next<T extends OutFrame['type']>(type: T): Promise<FrameOf<T>> {
        for (;;) {
          const found = received.find((frame): frame is FrameOf<T> => frame.type === type && !handed.has(frame));
          if (found) {
            handed.add(found);
            return found;
          }
          await new Promise<void>((resolve) => wanted.push(resolve));
        }
      },
    };

    connections.push(connection);
    queueMicrotask(() => {
      if (readyState !== 0) return;
      readyState = 1;
      socket.onopen?.call(socket as WebSocket, new Event('open'));
    });
    for (const wake of waiters.splice(0)) wake();
    return socket;
  };

  return {
    connections,
    openSocket,
    async connection(index = 0) {
      for (;;) {
        const found = connections[index];
        if (found) return found;
        await new Promise<void>((resolve) => waiters.push(resolve));
      }
    },
    fingerprint,
  };
}

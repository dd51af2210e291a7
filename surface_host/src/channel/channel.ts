/**
 * One live WebSocket between this document and the gateway, and the way back to one.
 *
 * It owns connection, ticket, resume and liveness. It does not know what the frames mean.
 */

import { byteLength, createBackoff, FRAME_LIMIT, tidy } from '../core/index.js';
import type { InFrame, OutFrame, Visibility, WelcomeFrame } from '../protocol/frames.js';
import { parseFrame } from '../protocol/guards.js';
import { hex } from '../host/platform.js';
import { isLocalNetworkBlocked } from './network.js';
import { createSession } from './session.js';
import type { Status, StatusCode } from './status.js';

/** The part of WebSocket in use; tests hand in their own. */
export type Socket = Pick<WebSocket, 'readyState' | 'onopen' | 'onmessage' | 'onclose' | 'send' | 'close'>;

export interface ChannelOptions {
  readonly gateway: string;
  readonly site: string;
  readonly getTicket: () => Promise<string>;
  readonly openSocket: (url: string) => Socket;
  readonly seen: () => string[];
  /** Whether mini apps can be shown here. */
  readonly workspace: boolean;
  readonly onWelcome: (welcome: WelcomeFrame) => void;
  readonly onFrame: (frame: InFrame) => void;
  readonly onStatus: (status: Status) => void;
}

export interface Channel {
  /** False if the frame did not leave: no connection, or too large. */
  send(frame: OutFrame): boolean;
  readonly status: Status;
  close(): void;
}

const WELCOME_WITHIN_MS = 15_000;
const OPEN = 1;

export const newId = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

const visibility = (): Visibility => (document.visibilityState === 'visible' ? 'visible' : 'hidden');

export function createChannel(options: ChannelOptions): Channel {
  const { gateway, site, getTicket, openSocket, onStatus } = options;
  const url = gateway.replace(/^http/, 'ws').replace(/\/+$/, '') + '/page/v1';
  const doc = newId();
  const session = createSession(`ostiary:${gateway}|${site}`, doc);
  const backoff = createBackoff(Math.random);
  const listeners = new AbortController();

  // INVARIANT: only the current attempt may act. Late events of an older socket find another one here.
  let current: { socket?: Socket; welcome?: WelcomeFrame } | undefined;
  let status: Status = { state: 'connecting' };
  let timers: ReturnType<typeof setTimeout>[] = [];
  let freshTicketTried = false;
  let away = false;
  let heardAt = 0;

  const later = (ms: number, task: () => void): void => {
    timers.push(setTimeout(task, Math.min(ms, 2 ** 31 - 1)));
  };

  const report = (state: Status['state'], code?: StatusCode): void => {
    status = code ? { state, code } : { state };
    onStatus(status);
  };

  const drop = (code?: number): void => {
    const socket = current?.socket;
    current = undefined;
    timers.forEach(clearTimeout);
    timers = [];
    socket?.close(code);
  };

  const retry = (code: StatusCode): void => {
    drop();
    report('waiting', code);
    if (!away) later(backoff.next(), connect);
  };

  const stop = (code: StatusCode): void => {
    drop(1000);
    session.release();
    listeners.abort();
    report('stopped', code);
  };

  const write = (frame: OutFrame): boolean => {
    const socket = current?.socket;
    if (socket?.readyState !== OPEN) return false;
    const text = JSON.stringify(frame);
    if (byteLength(text) > FRAME_LIMIT) return false;
    socket.send(text);
    return true;
  };

  const send = (frame: OutFrame): boolean => current?.welcome !== undefined && write(frame);

  const renewTicket = (ms: number): void =>
    later(ms * 0.8, () => {
      const attempt = current;
      getTicket().then(
        (ticket) => {
          if (attempt !== current) return;
          write({ type: 'ticket', ticket });
          renewTicket(attempt?.welcome?.reauth ?? ms);
        },
        () => attempt === current && renewTicket(Math.max(ms * 0.2, 1000)),
      );
    });

  const watch = (ping: number): void =>
    later(ping, () => {
      // A frozen tab comes back with an old stamp and a dead socket; a live one hears a ping in time.
      if (Date.now() - heardAt > ping * 2.5 + 1000) retry('unreachable');
      else watch(ping);
    });

  const welcomed = (welcome: WelcomeFrame): void => {
    if (!current) return;
    current.welcome = welcome;
    timers.forEach(clearTimeout);
    timers = [];
    backoff.reset();
    freshTicketTried = false;
    session.store(welcome.page, welcome.resume);
    if (welcome.ping > 0) watch(welcome.ping);
    if (welcome.reauth > 0) renewTicket(welcome.reauth);
    report('connected');
    options.onWelcome(welcome);
  };

  const receive = (data: unknown): void => {
    heardAt = Date.now();
    if (typeof data !== 'string') return;
    const frame = parseFrame(data);
    if (!frame) write({ type: 'error', code: 'bad_frame' });
    else if (frame.type === 'welcome') welcomed(frame);
    else if (frame.type === 'ping') write({ type: 'pong', n: frame.n, visibility: visibility() });
    else if (frame.type === 'bye' && frame.why === 'revoked') stop('revoked');
    else if (current?.welcome) options.onFrame(frame);
  };

  const closed = (code: number, welcomedBefore: boolean): void => {
    if (code === 4403) return stop('origin_refused');
    // Replaced: the tab's newest document may come back, anything older is history.
    if (code === 4409 && !(session.newest && navigator.locks)) return stop('replaced');
    if (code === 4401) {
      if (freshTicketTried) return retry('ticket_refused');
      freshTicketTried = true;
      drop();
      return connect();
    }
    retry('unreachable');
    if (welcomedBefore) return;
    void isLocalNetworkBlocked(gateway).then((blocked) => {
      if (blocked && status.state === 'waiting') report('waiting', 'LOCAL_NETWORK_BLOCKED');
    });
  };

  function connect(): void {
    drop();
    const attempt: NonNullable<typeof current> = {};
    current = attempt;
    report('connecting', status.code);
    const begin = async (): Promise<void> => {
      const [ticket, resume] = await Promise.all([getTicket(), session.claim()]);
      if (attempt !== current) return;
      const socket = openSocket(url);
      attempt.socket = socket;
      later(WELCOME_WITHIN_MS, () => retry('unreachable'));
      socket.onopen = () => {
        if (attempt !== current) return;
        write({
          type: 'hello',
          v: 1,
          site,
          doc,
          ticket,
          ...(resume === undefined ? {} : { resume }),
          seen: options.seen(),
          // Neither query nor fragment: they carry what is nobody's business.
          url: tidy(location.origin + location.pathname, 2048),
          ...(document.title ? { title: tidy(document.title, 120) } : {}),
          visibility: visibility(),
          automated: navigator.webdriver === true,
          ...(options.workspace ? { workspace: true } : {}),
        });
      };
      socket.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (attempt === current) receive(data);
      };
      socket.onclose = ({ code }) => {
        if (attempt === current) closed(code, attempt.welcome !== undefined);
      };
    };
    begin().catch(() => {
      if (attempt === current) retry('ticket_unavailable');
    });
  }

  const connectNow = (): void => {
    if (away || status.state !== 'waiting') return;
    connect();
  };

  const { signal } = listeners;
  addEventListener('online', connectNow, { signal });
  document.addEventListener(
    'visibilitychange',
    () => {
      send({ type: 'pong', n: 0, visibility: visibility() });
      if (visibility() === 'visible') connectNow();
    },
    { signal },
  );
  addEventListener(
    'pagehide',
    () => {
      away = true;
      send({ type: 'bye', why: 'pagehide' });
      drop(4000);
      // A document in the back/forward cache must not keep its successor from the session.
      session.release();
      report('waiting');
    },
    { signal },
  );
  addEventListener(
    'pageshow',
    ({ persisted }) => {
      if (!persisted) return;
      away = false;
      backoff.reset();
      connect();
    },
    { signal },
  );
  // The host wires its parts after this returns; a prerendered page is not open yet.
  queueMicrotask(() => {
    const begin = (): void => {
      if (status.state === 'connecting' && !current) connect();
    };
    if ('prerendering' in document && document.prerendering) {
      document.addEventListener('prerenderingchange', begin, { once: true, signal });
    } else begin();
  });

  return {
    send,
    get status() {
      return status;
    },
    close() {
      if (status.state === 'stopped') return;
      send({ type: 'bye', why: 'closed' });
      stop('closed');
    },
  };
}

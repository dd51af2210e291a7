/**
 * The first script of every inner document, before any of the bundle's.
 *
 * It takes away what a policy cannot forbid, makes the one line out of the frame, and gives the bundle its frozen bridge.
 * What the bundle does to this realm afterwards is its own matter: the host judges every string that comes out.
 */

import { deadlineOperation, defineAgentTools, interruptOperation, ToolFailed } from '../agent-tools.js';
import { APP, FRAME, SURFACE, type FromApp, type ToApp } from './words.js';

type Listener<T> = (value: T) => void;

/** What a tool call is to whoever serves them. */
export interface ServedCall {
  readonly ref: string;
  readonly method: string;
  readonly arguments: { readonly [name: string]: unknown };
  readonly signal: AbortSignal;
  started(): void;
  progress(n: number, total?: number, message?: string): void;
}

export type Served = { readonly output: unknown } | { readonly code: string; readonly message: string };

export interface SessionSnapshot {
  readonly revision: number;
  readonly data: { readonly [name: string]: unknown };
}

export interface AppReceipt {
  readonly status: string;
  readonly seq: number;
  readonly reason?: string;
}

/** What a surface bundle has. */
export interface SurfaceBridge {
  event(name: string, data?: object): void;
  onState(listener: Listener<never>): () => void;
  resize(height: number): void;
}

/** What a bundle with handlers has beside it. */
export interface AppBridge extends SurfaceBridge {
  /** Declares the app's tools and answers their calls: what `@ostiary/surface-host/agent-tools` has, for a bundle without a bundler. */
  readonly defineAgentTools: typeof defineAgentTools;
  readonly deadlineOperation: typeof deadlineOperation;
  readonly interruptOperation: typeof interruptOperation;
  readonly ToolFailed: typeof ToolFailed;
  /** Answers the calls of the gateway; the last one to say so does. */
  serve(answer: (call: ServedCall) => Promise<Served>): void;
  /** Asks for an action in the person's name. */
  request(action: string, input: object, onReceipt?: Listener<AppReceipt>): Promise<unknown>;
  readonly session: {
    /** What is kept for this app session, as far as this frame knows. */
    get(): SessionSnapshot;
    /** Keeps `data` if nobody kept anything since `get`; answers what is kept now, and whether it is this. */
    set(data: object): Promise<SessionSnapshot & { readonly ok: boolean }>;
  };
}

// A policy has no word for WebRTC.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'RTCIceTransport', 'RTCDtlsTransport', 'RTCSctpTransport']) {
  Reflect.deleteProperty(globalThis, name);
}

// Some engines let a frame walk the history of the page around it.
for (const name of ['back', 'forward', 'go']) Reflect.deleteProperty(History.prototype, name);
Reflect.deleteProperty(globalThis, 'navigation');

const script = document.currentScript;
const hasHandlers = script instanceof HTMLScriptElement && 'handlers' in script.dataset;
script?.remove();

const { port1: port, port2 } = new MessageChannel();
parent.postMessage('', '*', [port2]);

const { parse, stringify } = JSON;
// Bound now: whatever a bundle puts in the place of these, it neither gets the port nor speaks as the prelude.
const send: (text: string) => void = port.postMessage.bind(port);
const post = (namespace: string, message: object): void => send(stringify({ namespace, ...message }));

// A hand in the frame, which the page around it cannot see; a script cannot make such an event.
addEventListener('pointerdown', ({ isTrusted }) => isTrusted && post(FRAME, { type: 'touched' }), { capture: true, passive: true });

// ---- what every bundle has

const listeners = new Set<Listener<never>>();
let state: string | undefined;

const tell = (listener: Listener<never>, text: string): void => {
  try {
    // Each gets a copy of its own.
    listener(parse(text) as never);
  } catch (error) {
    reportError(error);
  }
};

const surface: SurfaceBridge = {
  event: (name, data = {}) => post(SURFACE, { type: 'event', event: name, data }),
  onState(listener) {
    listeners.add(listener);
    if (state !== undefined) {
      const text = state;
      queueMicrotask(() => tell(listener, text));
    }
    return () => void listeners.delete(listener);
  },
  resize: (height) => post(SURFACE, { type: 'resize', height: Math.round(Number(height)) }),
};

let isParsed = false;
let answer: ((call: ServedCall) => Promise<Served>) | undefined;
let isReady = false;

/** A surface is ready when its scripts ran, an app when it can also be called. */
const ready = (): void => {
  if (isReady || !isParsed || (hasHandlers && !answer)) return;
  isReady = true;
  post(SURFACE, { type: 'ready' });
};
document.addEventListener('DOMContentLoaded', () => {
  isParsed = true;
  ready();
});

// ---- what a bundle with handlers has

const running = new Map<string, AbortController>();
const asked = new Map<string, { readonly onReceipt: Listener<AppReceipt> | undefined; readonly settle: (reply: Extract<ToApp, { type: 'reply' }>) => void }>();
const keeping = new Map<string, (kept: SessionSnapshot & { readonly ok: boolean }) => void>();
let session: string = stringify({ revision: 0, data: {} });
let count = 0;

const up = (message: FromApp): void => post(APP, message);
const said = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error));

const call = async ({ ref, method, arguments: input }: Extract<ToApp, { type: 'call' }>): Promise<void> => {
  const controller = new AbortController();
  running.set(ref, controller);
  const fail = (code: string, message: string): void => up({ type: 'result', ref, ok: false, error: { code, message } } as FromApp);
  try {
    const served = await answer?.({
      ref,
      method,
      arguments: input,
      signal: controller.signal,
      started: () => up({ type: 'started', ref }),
      progress(n, total, message) {
        if (!running.has(ref)) return;
        up({ type: 'progress', ref, n, ...(total === undefined ? {} : { total }), ...(message === undefined ? {} : { message: String(message) }) });
      },
    });
    if (served && 'output' in served) up({ type: 'result', ref, ok: true, output: (served.output ?? null) as never });
    else fail(served?.code ?? 'not_available', served?.message ?? 'nobody serves calls here');
  } catch (error) {
    // What is no JSON ends here, too.
    fail('handler_error', said(error));
  } finally {
    running.delete(ref);
  }
};

const app: AppBridge = {
  ...surface,
  defineAgentTools,
  deadlineOperation,
  interruptOperation,
  ToolFailed,
  serve(serving) {
    answer = serving;
    ready();
  },
  request(action, input, onReceipt) {
    const id = `r${(count += 1)}`;
    return new Promise((resolve, reject) => {
      asked.set(id, {
        onReceipt,
        settle: ({ ok, output, code, message }) => {
          if (ok) resolve(output);
          else reject(Object.assign(new Error(message ?? code), { code }));
        },
      });
      up({ type: 'request', id, action, input: input as never });
    });
  },
  session: Object.freeze({
    get: () => parse(session) as SessionSnapshot,
    set(data: object) {
      const id = `s${(count += 1)}`;
      const { revision } = parse(session) as SessionSnapshot;
      return new Promise<SessionSnapshot & { readonly ok: boolean }>((resolve) => {
        keeping.set(id, resolve);
        up({ type: 'session', id, revision, data: data as never });
      });
    },
  }),
};

const take = (message: ToApp): void => {
  switch (message.type) {
    case 'call':
      void call(message);
      break;
    case 'cancel':
      running.get(message.ref)?.abort(new Error('cancelled'));
      break;
    case 'receipt':
      asked.get(message.id)?.onReceipt?.({ status: message.status, seq: message.seq, ...(message.reason === undefined ? {} : { reason: message.reason }) });
      break;
    case 'reply':
      asked.get(message.id)?.settle(message);
      asked.delete(message.id);
      break;
    case 'session': {
      const { id, ok, revision, data } = message;
      session = stringify({ revision, data });
      if (id === undefined) break;
      keeping.get(id)?.({ ok, revision, data });
      keeping.delete(id);
      break;
    }
    default:
      break;
  }
};

port.onmessage = ({ data }: MessageEvent<string>) => {
  const { namespace, ...message } = parse(data) as { namespace: string; type: string; state?: unknown; n?: number };
  if (namespace === FRAME) post(FRAME, { type: 'pong', n: message.n });
  else if (namespace === APP) take(message as unknown as ToApp);
  else {
    state = stringify(message.state);
    for (const listener of listeners) tell(listener, state);
  }
};

const bridge = Object.freeze(hasHandlers ? app : surface);
Object.defineProperty(globalThis, hasHandlers ? 'OstiaryApp' : 'LineUpSurface', { value: bridge, enumerable: true });

/**
 * One sandboxed frame: outer document by URL, inner document by the outer one, one port in between.
 *
 * The port belongs to the first inner document. Whatever loads later in its place has no port, and ends the frame.
 */

import type { AppOpenFrame, FailedCode, JsonObject } from '../protocol/apps.js';
import { APP, FRAME, SURFACE, type Assignment, type OuterWord, type ToApp } from '../sandbox/words.js';
import { messageOf } from '../core/index.js';
import { fetchBundle, OpeningFailed, type BundleParts } from './bundle.js';
import { createBucket, judge, type FromFrame } from './edge.js';

/** How long a bundle may take until it is ready. */
const READY_WITHIN_MS = 15_000;

const BEAT_MS = 2_000;
const BEATS_MISSED = 3;

export interface FramePorts {
  readonly gateway: string;
  readonly lang: string;
  /** Where the frame is put; it must stay there, for moving it loads it again. */
  readonly place: (frame: HTMLIFrameElement) => void;
  readonly onReady: () => void;
  readonly onWord: (word: Exclude<FromFrame, { type: 'ready' | 'pong' | 'touched' }>) => void;
  /** The person put a hand in the frame. */
  readonly onTouched: () => void;
  /** The frame is gone. */
  readonly onFailed: (code: FailedCode, message: string) => void;
  readonly onDropped: (count: number) => void;
}

export interface SandboxFrame {
  readonly element: HTMLIFrameElement | undefined;
  setState(state: JsonObject): void;
  tell(message: ToApp): void;
  /** Takes it away; nothing more is said of it. */
  remove(): void;
}

export function createFrame(open: AppOpenFrame, ports: FramePorts): SandboxFrame {
  const terms = { events: new Set(open.events), handlers: open.handlers };
  const life = new AbortController();
  const { signal } = life;
  const bucket = createBucket(30, 60, () => performance.now());
  let element: HTMLIFrameElement | undefined;
  let inner: MessagePort | undefined;
  let state = open.state;
  let hasScript = true;
  let isReady = false;
  let dropped = 0;
  let missed = 0;
  let beat = 0;

  const end = (): void => {
    life.abort();
    inner?.close();
    inner = undefined;
    element?.remove();
    element = undefined;
  };
  const fail = (code: FailedCode, message: string): void => {
    if (signal.aborted) return;
    end();
    ports.onFailed(code, message);
  };
  const drop = (): void => {
    dropped += 1;
    ports.onDropped(dropped);
  };
  const post = (namespace: string, message: object): void => inner?.postMessage(JSON.stringify({ namespace, ...message }));

  const hear = ({ data }: MessageEvent<unknown>): void => {
    const word = judge(data, terms);
    if (!word) return drop();
    if (word.type === 'pong') {
      if (word.n === beat) missed = 0;
      return;
    }
    if (word.type === 'touched') return ports.onTouched();
    if (word.type === 'ready') {
      if (isReady) return drop();
      isReady = true;
      post(SURFACE, { type: 'state', state });
      ports.onReady();
      return;
    }
    // Events are what a person did: a frame nobody sees has none to tell, and nobody does so many.
    const isEvent = word.type === 'event' || word.type === 'resize';
    if (!isReady || (isEvent && (document.hidden || !bucket.take()))) return drop();
    ports.onWord(word);
  };

  const heartbeat = (): void => {
    // Timers of hidden documents say nothing about a frame.
    if (document.hidden || !isReady) return;
    if (missed >= BEATS_MISSED) return fail('unresponsive', 'the frame did not answer for a while');
    missed += 1;
    beat += 1;
    post(FRAME, { type: 'ping', n: beat });
  };

  const show = (parts: BundleParts): void => {
    const frame = document.createElement('iframe');
    element = frame;
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.setAttribute('allow', '');
    frame.referrerPolicy = 'no-referrer';
    frame.title = open.title;
    frame.src = new URL(open.sandbox, ports.gateway).href;
    let loads = 0;
    frame.addEventListener('load', () => {
      loads += 1;
      if (loads > 1) return fail('navigated', 'the outer frame went elsewhere');
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data, ports: [port] }: MessageEvent<OuterWord>) => heardOuter(data, port);
      signal.addEventListener('abort', () => port1.close());
      // Content-free: what the frame is to show goes over the port alone.
      frame.contentWindow?.postMessage('', '*', [port2]);
      const { handlers, profile } = open;
      port1.postMessage(JSON.stringify({ ...parts, handlers, profile, lang: ports.lang } satisfies Assignment));
    });
    document.addEventListener(
      'securitypolicyviolation',
      ({ effectiveDirective, blockedURI }) => {
        if (effectiveDirective === 'frame-src' && blockedURI.startsWith(new URL(ports.gateway).origin)) {
          fail('not_loaded', `the page's policy refuses the frame; \`frame-src\` needs \`${new URL('/sandbox/', ports.gateway).href}\``);
        }
      },
      { signal },
    );
    ports.place(frame);
  };

  const heardOuter = (word: OuterWord, port: MessagePort | undefined): void => {
    if (signal.aborted) return;
    switch (word) {
      case 'port':
        if (inner || !port) return;
        inner = port;
        inner.onmessage = hear;
        break;
      case 'loaded':
        // Without a script there is nobody to say it.
        if (hasScript || isReady) break;
        isReady = true;
        ports.onReady();
        break;
      case 'navigated':
        return fail('navigated', 'the surface went elsewhere');
      case 'refused':
        return fail('integrity', 'the surface holds what no surface may');
    }
  };

  const begin = async (): Promise<void> => {
    const late = setTimeout(() => isReady || fail('not_loaded', 'the surface was not ready in time'), READY_WITHIN_MS);
    const beats = setInterval(heartbeat, BEAT_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(late);
      clearInterval(beats);
    });
    const parts = await fetchBundle(ports.gateway, open, signal);
    hasScript = parts.js !== '';
    if (!signal.aborted) show(parts);
  };
  begin().catch((error: unknown) => fail(error instanceof OpeningFailed ? error.code : 'not_loaded', messageOf(error)));

  return {
    get element() {
      return element;
    },
    setState(next) {
      state = next;
      if (isReady) post(SURFACE, { type: 'state', state });
    },
    tell: (message) => post(APP, message),
    remove: end,
  };
}

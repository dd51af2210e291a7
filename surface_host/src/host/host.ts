/** The composition root: one host joins registry, calls, prompts, channel and what a person sees. */

import { createApprovalDialog } from '../approval/dialog.js';
import { createBadge } from '../badge/badge.js';
import { createChannel, newId } from '../channel/channel.js';
import { createSurfaceClients } from '../client/surface.js';
import {
  byteLength,
  createCalls,
  createDeclarations,
  createPromptQueue,
  createRegistry,
  decisionFrame,
  FRAME_LIMIT,
  messageOf,
  unavailableOf,
  visible,
  windowOf,
  type Capability,
  type ContextSource,
} from '../core/index.js';
import type { ContextWindow, DescribeFrame, InFrame, OutFrame, WelcomeFrame } from '../protocol/frames.js';
import { parsePayload } from '../protocol/guards.js';
import { wordsFor } from '../ui/messages.js';
import { createEmitter } from './emitter.js';
import type { HostEvents, HostPorts, SurfaceHost, SurfaceHostOptions } from './options.js';

const now = (): number => Date.now();

const later = (ms: number, task: () => void): (() => void) => {
  const timer = setTimeout(task, Math.min(ms, 2 ** 31 - 1));
  return () => clearTimeout(timer);
};

/** One turn of the event loop by message: timers and animation frames stand still in hidden tabs. */
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

const sha256 = async (text: string): Promise<string> => {
  if (!globalThis.crypto?.subtle) throw new Error('an approval needs a secure context (https or localhost)');
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
};

export function startHost(options: SurfaceHostOptions, ports: HostPorts = {}): SurfaceHost {
  const events = createEmitter<HostEvents>();
  const words = wordsFor(options.lang, options.messages);
  const mode = ports.shadow ?? 'closed';
  let welcome: WelcomeFrame | undefined;
  let context: ContextSource | undefined;
  let capsQueued = false;
  let resetCaps: (() => void) | undefined;

  const send = (frame: OutFrame): boolean => {
    const sent = channel.send(frame);
    if (!sent && channel.status.state === 'connected') events.emit('error', { code: 'not_sent', message: `a \`${frame.type}\` frame did not leave` });
    return sent;
  };

  // ---- capabilities: one snapshot in flight, changes in between fall into the next

  const registry = createRegistry(() => queueCaps());
  const declarations = createDeclarations(registry.all, (rejected) => events.emit('rejected', rejected));

  const flushCaps = (): void => {
    capsQueued = false;
    if (!welcome || channel.status.state !== 'connected' || declarations.waiting) return;
    const frames = declarations.snapshot();
    if (!frames.length) return;
    for (const frame of frames) send(frame);
    // An answer that never comes must not silence the page for good.
    resetCaps?.();
    resetCaps = later(5000, () => {
      declarations.reconnect();
      queueCaps();
    });
  };
  const queueCaps = (): void => {
    if (capsQueued) return;
    capsQueued = true;
    queueMicrotask(flushCaps);
  };

  // ---- what a person decides

  const queue = createPromptQueue(now, () => {
    dialog.sync();
    badge.sync();
  });
  const dialog = createApprovalDialog({
    queue,
    words,
    mode,
    now,
    digest: sha256,
    onDecide(approval, decision, seen) {
      const prompt = queue.find(approval);
      const answer = { decision, visible: seen };
      // Offline the answer waits; it leaves with the next welcome of this page session.
      if (prompt && queue.decide(approval, answer)) send(decisionFrame(prompt.payload, prompt.sha256, answer));
    },
  });
  const badge = createBadge({
    queue,
    words,
    mode,
    always: options.badge !== false,
    label: options.label,
    status: () => channel.status,
    act: (action, target) => channel.send({ type: 'action', id: newId(), action, ...target }),
  });

  const calls = createCalls({
    registry,
    prompts: queue,
    fingerprint: declarations.fingerprint,
    epoch: () => welcome?.epoch ?? -1,
    page: () => welcome?.page ?? '',
    send,
    settle: turn,
    sha256,
    later,
  });

  const onApproveRequest = async (text: string, remaining: number): Promise<void> => {
    const payload = parsePayload(text);
    if (!payload) {
      send({ type: 'error', code: 'bad_payload' });
      return;
    }
    const { approval } = payload;
    const before = queue.find(approval);
    await calls.approveRequest(payload, text, remaining);
    if (!before && queue.find(approval)) later(remaining, () => queue.event(approval, 'time_up'));
  };

  // ---- what the page shows of its state

  const describe = async (frame: DescribeFrame): Promise<void> => {
    const unavailable = await unavailableOf(registry.all().map(({ capability }) => capability));
    const answer = (window: ContextWindow | null): OutFrame => ({ type: 'described', id: frame.id, context: window, unavailable });
    let limit = frame.limit;
    try {
      for (; context; limit >>= 1) {
        const full = answer(windowOf(context, { ...frame, limit }));
        // Fewer records fit where all do not; the window then says how many came.
        if (byteLength(JSON.stringify(full)) <= FRAME_LIMIT) {
          send(full);
          return;
        }
        if (limit === 0) break;
      }
    } catch (error) {
      events.emit('error', { code: 'context_invalid', message: messageOf(error) });
    }
    send(answer(null));
  };

  const clients = createSurfaceClients(send, newId);

  const onWelcome = (frame: WelcomeFrame): void => {
    // Another page session: nothing of the former may reach it.
    if (welcome && welcome.page !== frame.page) calls.abandon();
    welcome = frame;
    queue.dropExcept(frame.page, frame.epoch);
    declarations.reconnect();
    queueCaps();
    calls.resume();
  };

  const onFrame = (frame: InFrame): void => {
    switch (frame.type) {
      case 'invoke':
        void calls.invoke(frame);
        break;
      case 'ack':
        calls.ack(frame.ref);
        break;
      case 'cancel':
        calls.cancel(frame.ref);
        break;
      case 'approve_request':
        void onApproveRequest(frame.payload, frame.remaining);
        break;
      case 'approve_update': {
        const prompt = queue.find(frame.approval);
        if (!prompt || !queue.event(frame.approval, frame.state, frame.code)) break;
        if (frame.state === 'approved' || frame.state === 'denied' || frame.state === 'expired' || frame.state === 'withdrawn') {
          const title = visible(prompt.payload.summary.object).map(({ text }) => text).join('');
          dialog.note(words.say(frame.state, title));
        }
        break;
      }
      case 'caps_ack':
        if (!declarations.ack(frame)) break;
        resetCaps?.();
        queueCaps();
        break;
      case 'describe':
        void describe(frame);
        break;
      case 'surface_reply':
        clients.reply(frame.id, frame.envelope);
        break;
      case 'action_reply':
        badge.replied(frame);
        break;
      case 'activity':
        badge.activity(frame);
        events.emit('activity', frame);
        break;
      case 'error':
        events.emit('error', frame.message === undefined ? { code: frame.code } : { code: frame.code, message: frame.message });
        break;
      default:
        // `welcome`, `ping` and `bye` are the channel's.
        break;
    }
  };

  const channel = createChannel({
    gateway: options.gateway,
    site: options.site,
    getTicket: options.getTicket,
    openSocket: ports.openSocket ?? ((url) => new WebSocket(url)),
    seen: calls.seen,
    onWelcome,
    onFrame,
    onStatus(status) {
      if (status.state !== 'connected') {
        resetCaps?.();
        clients.disconnected();
      }
      badge.sync();
      events.emit('status', status);
    },
  });

  return {
    register: (capability, more) => registry.register(capability as Capability, more),
    setContext(source) {
      context = source;
    },
    openSurface() {
      if (channel.status.state !== 'connected') throw new Error('the page is not connected to the gateway yet');
      if (!welcome?.in_page) throw new Error('this site does not allow an in-page agent');
      return clients.open();
    },
    get status() {
      return channel.status;
    },
    on: events.on,
    close() {
      channel.close();
      calls.abandon();
      clients.close();
      dialog.destroy();
      badge.destroy();
    },
  };
}

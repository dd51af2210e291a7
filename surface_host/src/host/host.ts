/** The composition root: one host joins registry, calls, prompts, channel and what a person sees. */

import { createChannel, newId } from '../channel/channel.js';
import { createSurfaceClients } from '../client/surface.js';
import { createCalls, createHosted, createPromptQueue, createRegistry, decisionFrame, type Capability, type ContextSource, type Pack } from '../core/index.js';
import type { ActivityFrame, InFrame, OutFrame, WelcomeFrame } from '../protocol/frames.js';
import { parsePayload } from '../protocol/guards.js';
import type { Ui } from '../ui/index.js';
import { createLazyApps } from './apps.js';
import { createDescriber } from './describe.js';
import { createEmitter } from './emitter.js';
import type { HostEvents, HostPorts, SurfaceHost, SurfaceHostOptions } from './options.js';
import { later, sha256, turn } from './platform.js';
import { createPublisher } from './publish.js';
import { supported } from './supported.js';

/** What `hello` may name. */
const SEEN_MOST = 256;

export function startHost(options: SurfaceHostOptions, ports: HostPorts = {}): SurfaceHost {
  const { on, emit } = createEmitter<HostEvents>();
  let welcome: WelcomeFrame | undefined;
  let context: ContextSource | undefined;
  let activity: ActivityFrame | undefined;
  let ui: Ui | undefined;
  let closed = false;
  let pack: Pack | undefined;

  const send = (frame: OutFrame): boolean => {
    const sent = channel.send(frame);
    if (!sent && channel.status.state === 'connected') emit('error', { code: 'not_sent', message: frame.type });
    return sent;
  };

  const registry = createRegistry(() => publisher.changed());
  const hosted = createHosted(supported(), async () => {
    const { createPack } = await (ports.loadPack ?? (() => import('../pack/index.js')))();
    return (pack ??= createPack({ lang: options.lang, messages: options.messages, mode: ports.shadow ?? 'closed' }));
  });
  const publisher = createPublisher(registry.all, hosted, {
    send: (frame) => welcome !== undefined && send(frame),
    onRejected: (rejected) => emit('rejected', rejected),
  });

  const queue = createPromptQueue(Date.now, () => ui?.sync());

  const decided = (approval: string, decision: 'approve' | 'deny', seen: boolean): void => {
    const prompt = queue.find(approval);
    const answer = { decision, visible: seen };
    // Offline the answer waits; it leaves with the next welcome of this page session.
    if (prompt && queue.decide(approval, answer)) send(decisionFrame(prompt.payload, prompt.sha256, answer));
  };

  const startUi = async (): Promise<Ui> => {
    const { createUi } = await (ports.loadUi ?? (() => import('../ui/index.js')))();
    const made = createUi({
      queue,
      lang: options.lang,
      messages: options.messages,
      label: options.label,
      badge: options.badge !== false,
      mode: ports.shadow ?? 'closed',
      digest: sha256,
      status: () => channel.status,
      act: (action, target) => send({ type: 'action', id: newId(), action, ...target }),
      onDecide: decided,
    });
    if (closed) made.destroy();
    else ui = made;
    if (activity) made.activity(activity);
    return made;
  };
  // Asked for at once, so that it is there before the first question. Without it nobody can be asked, and that is the answer.
  let uiReady = startUi();
  uiReady.catch(() => emit('error', { code: 'ui_not_loaded' }));

  const calls = createCalls({
    registry: { ...registry, find: (id) => hosted.get(id) ?? registry.find(id) },
    prompts: queue,
    fingerprint: publisher.fingerprint,
    epoch: () => welcome?.epoch,
    page: () => welcome?.page,
    send,
    settle: turn,
    sha256,
    later,
  });
  const clients = createSurfaceClients(send, newId);
  const apps = createLazyApps(
    options.workspace === false ? undefined : (ports.loadApps ?? (() => import('../apps/index.js'))),
    {
      ...options,
      lang: options.lang,
      messages: options.messages,
      mode: ports.shadow ?? 'closed',
      newId,
      later,
      send: (frame) => channel.send(frame),
      onChange: (list) => emit('apps', list),
    },
    () => emit('error', { code: 'workspace_not_loaded' }),
  );
  const describe = createDescriber(registry.all, () => context, send, (message) => emit('error', { code: 'context_invalid', message }));

  const ask = async (text: string, remaining: number, elsewhere?: boolean): Promise<void> => {
    const payload = parsePayload(text);
    if (!payload) {
      send({ type: 'error', code: 'bad_payload' });
      return;
    }
    try {
      // What failed at the start of the page may work by now.
      await (uiReady = uiReady.catch(startUi));
      await calls.approveRequest(payload, text, remaining, elsewhere);
    } catch {
      send({ type: 'refused', ref: payload.ref, why: 'not_available', message: 'the page could not load its approval dialog' });
    }
  };

  const onFrame = (frame: InFrame): void => {
    switch (frame.type) {
      case 'invoke':
        void calls.invoke(frame);
        break;
      case 'ack':
        calls.ack(frame.ref);
        apps.ack(frame.ref);
        break;
      case 'cancel':
        calls.cancel(frame.ref);
        break;
      case 'approve_request':
        void ask(frame.payload, frame.remaining, frame.elsewhere);
        break;
      case 'approve_update': {
        const { approval, state, code } = frame;
        const prompt = queue.find(approval);
        if (!queue.event(approval, state, code) || !prompt || state === 'open' || state === 'agent_left') break;
        ui?.ended(prompt.payload, state);
        break;
      }
      case 'caps_ack':
        publisher.acknowledged(frame);
        break;
      case 'describe':
        void describe(frame);
        break;
      case 'surface_reply':
        clients.reply(frame.id, frame.envelope);
        break;
      case 'action_reply':
        if (!apps.replied(frame)) ui?.replied(frame);
        break;
      case 'app':
      case 'receipt':
        apps.take(frame);
        break;
      case 'panel':
        ports.onPanel?.(frame, send);
        break;
      case 'activity':
        activity = frame;
        ui?.activity(frame);
        emit('activity', frame);
        break;
      case 'error':
        emit('error', frame);
        break;
      default:
        // `welcome`, `ping` and `bye` are the channel's.
        break;
    }
  };

  const channel = createChannel({
    ...options,
    openSocket: ports.openSocket ?? ((url) => new WebSocket(url)),
    seen: () => [...apps.seen(), ...calls.seen()].slice(0, SEEN_MOST),
    workspace: options.workspace !== false,
    onFrame,
    onWelcome(frame) {
      // Another page session: nothing of the former may reach it.
      if (welcome && welcome.page !== frame.page) {
        calls.abandon();
        apps.abandon();
      }
      welcome = frame;
      queue.dropExcept(frame.page, frame.epoch);
      publisher.connected();
      calls.resume();
      apps.resume();
    },
    onStatus(status) {
      if (status.state !== 'connected') {
        publisher.disconnected();
        clients.disconnected();
      }
      ui?.sync();
      emit('status', status);
    },
  });

  return {
    register: (capability, more) => registry.register(capability as Capability, more),
    setContext(source) {
      context = source;
    },
    openSurface() {
      if (channel.status.state !== 'connected' || !welcome?.in_page) throw new Error('the gateway allows no in-page client here now');
      return clients.open();
    },
    get status() {
      return channel.status;
    },
    on,
    close() {
      channel.close();
      calls.abandon();
      clients.close();
      closed = true;
      ui?.destroy();
      apps.destroy();
    },
  };
}

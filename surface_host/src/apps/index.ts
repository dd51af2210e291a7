/**
 * The workspace: where mini app frames are mounted, brought to the foreground, left and closed.
 *
 * It joins bookkeeping, frames and what a person sees, and says to the gateway what happened, never what should follow.
 */

import type { AppFrame, AppNewsFrame, AppOpenFrame, ReceiptFrame } from '../protocol/apps.js';
import type { ActionReplyFrame, OutFrame } from '../protocol/frames.js';
import { button, el } from '../ui/dom.js';
import { sayFrom } from '../ui/words.js';
import { createHeights, type FromFrame } from './edge.js';
import { watchBoxes } from './element.js';
import { guardFocus } from './focus.js';
import { createFrame, type SandboxFrame } from './frame.js';
import { createOverlay, findHome, type Home } from './home.js';
import { createInstances, type Word } from './instances.js';
import { watchLock } from './lock.js';
import { en, zh, type WorkspaceMessages } from './messages.js';
import { createPanel, type Panel } from './panel.js';
import { createQuestion } from './question.js';
import { createSight, isSeen } from './sight.js';
import { createTools } from './tools.js';

/** One mini app as a page may know it. */
export interface MiniApp {
  readonly app: string;
  readonly title: string;
  readonly isFront: boolean;
  /** Messages of its frame that were not taken. */
  readonly dropped: number;
}

export interface AppsOptions {
  readonly gateway: string;
  readonly site: string;
  readonly lang: string | undefined;
  readonly messages: Partial<WorkspaceMessages> | undefined;
  readonly mode: ShadowRootMode;
  readonly newId: () => string;
  readonly later: (ms: number, task: () => void) => () => void;
  /** False if it did not leave. */
  readonly send: (frame: OutFrame) => boolean;
  readonly onChange: (apps: readonly MiniApp[]) => void;
}

export interface Apps {
  take(frame: AppFrame | ReceiptFrame): void;
  /** False if no frame asked for this. */
  replied(frame: ActionReplyFrame): boolean;
  ack(ref: string): void;
  seen(): string[];
  /** The connection is there again, for the same page session. */
  resume(): void;
  /** The page session is another one. */
  abandon(): void;
  destroy(): void;
}

/** News and intents that could not leave yet. Enough for a person; more is a fault. */
const KEPT_WORDS = 128;
const MAX_HEIGHT = 4_000;
/** How long the last word about a mini app stays to be read. */
const NOTE_MS = 5_000;

interface Running {
  readonly frame: SandboxFrame;
  readonly heights: (wanted: number) => number | undefined;
  dropped: number;
}

export function createApps(options: AppsOptions): Apps {
  const { gateway, site, mode } = options;
  const say = sayFrom({ en, zh }, options.lang, options.messages);
  const life = new AbortController();
  const { signal } = life;
  const key = `ostiary:front:${gateway}|${site}`;
  const running = new Map<string, Running>();
  const asked = new Map<string, { readonly instance: string; readonly id: string }>();
  const unsaid: (Word | AppNewsFrame)[] = [];
  /** When the person last put a hand in a frame. */
  let touchedAt = -Infinity;

  const tell = (word: Word | AppNewsFrame): void => {
    if (options.send(word) || unsaid.length >= KEPT_WORDS) return;
    unsaid.push(word);
  };

  // ---- memory of this tab: what was in front when the document is loaded again

  let remembered: string | undefined;
  try {
    remembered = sessionStorage.getItem(key) ?? undefined;
  } catch {
    // A browser that blocks site data; a reload then begins without one in front.
  }
  const remember = (instance: string | undefined): void => {
    remembered = instance;
    try {
      if (instance === undefined) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, instance);
    } catch {
      // As above.
    }
  };

  const instances = createInstances({
    now: Date.now,
    say: (word) => tell(word),
    mount: (open) => mount(open),
    unmount(instance) {
      running.get(instance)?.frame.remove();
      running.delete(instance);
      tools.lost(instance);
    },
    show: (instance, state) => running.get(instance)?.frame.setState(state),
    remembered: () => remembered,
    remember,
    onChange: () => sync(),
  });

  const tools = createTools({
    // Results are kept until they are acknowledged; the rest is only news of the moment.
    send: (frame) => void options.send(frame),
    tell(instance, message) {
      if (!instances.get(instance)?.isOpen) return false;
      running.get(instance)?.frame.tell(message);
      return true;
    },
    later: options.later,
  });

  // ---- frames

  function mount(open: AppOpenFrame): void {
    const { instance } = open;
    const entry: Running = {
      dropped: 0,
      heights: createHeights(() => MAX_HEIGHT, () => performance.now()),
      frame: createFrame(open, {
        gateway,
        lang: say('lang'),
        place: (element) => panel.place(instance, element),
        onReady() {
          if (running.get(instance) !== entry) return;
          if (open.handlers) entry.frame.tell({ type: 'session', ok: true, revision: open.revision, data: open.data });
          const known = instances.get(instance);
          if (known) entry.frame.setState(known.state);
          instances.mounted(instance);
        },
        onWord: (word) => heard(instance, word),
        onTouched: () => {
          touchedAt = performance.now();
        },
        onFailed(code, message) {
          if (running.get(instance) !== entry) return;
          note(say('couldNotOpen', open.title));
          instances.failed(instance, code, message);
        },
        onDropped(count) {
          entry.dropped = count;
          publish();
        },
      }),
    };
    running.set(instance, entry);
  }

  function heard(instance: string, word: Exclude<FromFrame, { type: 'ready' | 'pong' | 'touched' }>): void {
    switch (word.type) {
      case 'event':
        options.send({ type: 'app_news', instance, what: 'event', event: word.event, data: word.data });
        break;
      case 'resize': {
        const height = running.get(instance)?.heights(word.height);
        if (height !== undefined) panel.setHeight(instance, height);
        break;
      }
      case 'request': {
        const id = options.newId();
        asked.set(id, { instance, id: word.id });
        if (options.send({ type: 'action', id, instance, action: word.action, input: word.input })) break;
        asked.delete(id);
        running.get(instance)?.frame.tell({ type: 'reply', id: word.id, ok: false, code: 'page_not_connected', message: 'the page has no connection to the gateway' });
        break;
      }
      case 'session': {
        const id = options.newId();
        asked.set(id, { instance, id: word.id });
        if (options.send({ type: 'app_news', instance, what: 'data', id, revision: word.revision, data: word.data })) break;
        asked.delete(id);
        const known = instances.get(instance)?.open;
        if (known) running.get(instance)?.frame.tell({ type: 'session', id: word.id, ok: false, revision: known.revision, data: known.data });
        break;
      }
      default:
        tools.hear(instance, word);
    }
  }

  // ---- what a person sees

  const overlay = createOverlay(mode, say('lang'));
  const question = createQuestion(instances, say, (instance, yes) => {
    instances.answer(instance, yes);
    if (yes) arrive();
  });
  const status = el('p', { class: 'note', role: 'status' });
  const dockCount = el('span', { class: 'count' });
  const dock = button('', 'dock', () => {
    isListOpen = !isListOpen;
    sync();
    if (isListOpen) panel.element.querySelector<HTMLElement>('button.pick')?.focus();
  });
  dock.append(say('workspace'), dockCount);
  const own = el('div', { class: 'own' });
  overlay.root.append(own, dock, question.element, status);

  let isListOpen = false;
  let home: Home = findHome(site, mode, overlay);
  const panel: Panel = createPanel({
    say,
    instances,
    onSelect(instance) {
      instances.select(instance);
      arrive();
    },
    onLeave() {
      const name = nameOf(instances.front);
      instances.leave();
      note(say('wasLeft', name));
      dock.focus();
    },
    onClose(instance) {
      const name = nameOf(instance);
      instances.close(instance);
      note(say('wasClosed', name));
      dock.focus();
    },
  });

  const nameOf = (instance: string | undefined): string => (instance === undefined ? '' : (instances.get(instance)?.open.title ?? ''));

  let stopNote = (): void => undefined;
  /** Says what became of a mini app; what can be seen anyway is said to ears alone. */
  function note(text: string, isSeenAnyway = false): void {
    status.classList.toggle('aloud', isSeenAnyway);
    status.textContent = text;
    stopNote();
    stopNote = options.later(NOTE_MS, () => {
      status.textContent = '';
    });
  }

  /** The person asked to see the one in front. */
  const arrive = (): void => {
    isListOpen = false;
    home.box?.dispatchEvent(new CustomEvent('ostiary-foreground', { bubbles: true, composed: true }));
    sync();
    if (home.box && !isSeen(home.box)) home.box.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    panel.focus();
    note(say('inFront', nameOf(instances.front)), true);
    look();
  };

  const look = (): void => {
    const { front } = instances;
    const frame = front === undefined ? undefined : panel.frameOf(front);
    sight.watch(frame);
    // A page that hides its own place for mini apps has gone to another view.
    if (front !== undefined && home.box && document.visibilityState === 'visible' && instances.get(front)?.isOpen && wasSeen && !home.box.checkVisibility()) {
      wasSeen = false;
      instances.leave();
      return;
    }
    const seen = isSeen(frame);
    wasSeen = seen || (wasSeen && front !== undefined);
    instances.seen(seen);
  };
  let wasSeen = false;
  const sight = createSight(look);

  let isPublishing = false;
  const publish = (): void => {
    if (isPublishing) return;
    isPublishing = true;
    queueMicrotask(() => {
      isPublishing = false;
      const { front } = instances;
      options.onChange(
        instances.all().map(({ open: { instance, app, title } }) => ({ app, title, isFront: instance === front, dropped: running.get(instance)?.dropped ?? 0 })),
      );
    });
  };

  function sync(): void {
    if (signal.aborted) return;
    const count = instances.all().length;
    const isOver = !home.box;
    panel.sync();
    question.sync();
    own.hidden = !isOver || (instances.front === undefined && !isListOpen) || count === 0;
    dock.hidden = !isOver || count === 0 || instances.front !== undefined;
    dock.setAttribute('aria-expanded', String(isListOpen));
    dockCount.textContent = String(count);
    if (count === 0) isListOpen = false;
    // A page may empty its document; what the person has to see comes back.
    if (!overlay.element.isConnected && (count > 0 || status.textContent)) document.documentElement.append(overlay.element);
    look();
    publish();
  }

  /** Puts the workspace where it belongs now. A frame that is moved loads again, so its bundle begins again with the same state. */
  const settleHome = (): void => {
    const next = findHome(site, mode, overlay);
    if (next.root === home.root && panel.element.isConnected) return;
    const isLeft = home.box !== undefined && next.root !== home.root && !next.box;
    if (isLeft && instances.front !== undefined) instances.leave();
    home = next;
    for (const { open } of instances.all()) {
      // What a handler was doing goes with its frame.
      if (tools.lost(open.instance)) instances.failed(open.instance, 'removed', 'its place in the page was taken away');
    }
    const frames = instances.all().map(({ open }) => open);
    for (const { instance } of frames) running.get(instance)?.frame.remove();
    (home.box ? home.root : own).append(panel.element);
    for (const open of frames) {
      running.delete(open.instance);
      instances.moved(open.instance);
    }
    sync();
  };

  (home.box ? home.root : own).append(panel.element);
  document.documentElement.append(overlay.element);
  const stopWatching = watchBoxes(settleHome);
  settleHome();

  // ---- the document

  document.addEventListener(
    'visibilitychange',
    () => {
      if (document.visibilityState === 'hidden') instances.hidden();
      else look();
    },
    { signal },
  );
  addEventListener('pageshow', ({ persisted }) => persisted && instances.restored(), { signal });
  for (const type of ['resize', 'scroll']) addEventListener(type, look, { signal, passive: true, capture: true });
  void watchLock((isLocked) => {
    if (isLocked) instances.locked();
    else {
      instances.unlocked();
      look();
    }
  }, signal);
  guardFocus(
    () => {
      const { activeElement } = home.root;
      return activeElement instanceof HTMLIFrameElement ? activeElement : undefined;
    },
    () => touchedAt,
    signal,
  );

  return {
    take(frame) {
      if (frame.type === 'receipt') {
        const request = asked.get(frame.id);
        const { status: told, seq, reason } = frame;
        if (request) running.get(request.instance)?.frame.tell({ type: 'receipt', id: request.id, status: told, seq, ...(reason === undefined ? {} : { reason }) });
        return;
      }
      const { instance } = frame;
      switch (frame.op) {
        case 'open':
          instances.open(frame);
          break;
        case 'state':
          instances.setState(instance, frame.state);
          break;
        case 'tool':
          tools.call(frame);
          break;
        case 'cancel':
          tools.cancel(instance, frame.ref);
          break;
        case 'foreground':
          instances.ask(instance, frame.agent, frame.remaining);
          options.later(frame.remaining, () => instances.expire());
          break;
        case 'data': {
          const request = asked.get(frame.id);
          asked.delete(frame.id);
          const { ok, revision, data } = frame;
          instances.keep(instance, revision, data);
          running.get(instance)?.frame.tell({ type: 'session', ...(request ? { id: request.id } : {}), ok, revision, data });
          break;
        }
        case 'close':
          instances.closed(instance);
          break;
      }
    },
    replied({ id, ok, output, code, message }) {
      const request = asked.get(id);
      if (!request) return false;
      asked.delete(id);
      const more = { ...(output === undefined ? {} : { output }), ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) };
      running.get(request.instance)?.frame.tell({ type: 'reply', id: request.id, ok, ...more });
      return true;
    },
    ack: (ref) => tools.ack(ref),
    seen: () => tools.seen(),
    resume() {
      for (const word of unsaid.splice(0)) tell(word);
      for (const frame of tools.unsent()) options.send(frame);
      // Nobody will answer what was asked over a connection that is gone.
      for (const [, { instance, id }] of asked) {
        running.get(instance)?.frame.tell({ type: 'reply', id, ok: false, code: 'outcome_unknown', message: 'the connection went away before the answer' });
      }
      asked.clear();
    },
    abandon() {
      unsaid.length = 0;
      asked.clear();
      tools.abandon();
      instances.abandon();
    },
    destroy() {
      this.abandon();
      life.abort();
      stopNote();
      stopWatching();
      sight.stop();
      overlay.element.remove();
      panel.element.remove();
    },
  };
}

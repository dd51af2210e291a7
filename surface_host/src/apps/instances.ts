/**
 * Which mini apps this page has, which one is in front, and what the gateway hears of it.
 *
 * Pure bookkeeping. It never decides for the person: an instance comes to the front because they said so, or because they
 * had it there when the document was loaded again.
 */

import type { AppNewsFrame, AppOpenFrame, FailedCode, HostIntent, IntentFrame, JsonObject } from '../protocol/apps.js';

/** Frames cost memory and attention. */
export const MOST = 8;

export interface Instance {
  readonly open: AppOpenFrame;
  readonly state: JsonObject;
  /** Its frame is there and its bundle runs. */
  readonly isOpen: boolean;
}

export interface Question {
  readonly instance: string;
  /** Whose call needs it; empty if nobody's. */
  readonly agent: string;
  readonly endsAt: number;
}

export type Word = AppNewsFrame | IntentFrame;

export interface InstancePorts {
  readonly now: () => number;
  readonly say: (word: Word) => void;
  readonly mount: (open: AppOpenFrame) => void;
  readonly unmount: (instance: string) => void;
  readonly show: (instance: string, state: JsonObject) => void;
  /** What was in front in this tab before the document was loaded again. */
  readonly remembered: () => string | undefined;
  readonly remember: (instance: string | undefined) => void;
  readonly onChange: () => void;
}

export interface Instances {
  open(frame: AppOpenFrame): void;
  setState(instance: string, state: JsonObject): void;
  mounted(instance: string): void;
  failed(instance: string, code: FailedCode, message: string): void;
  ask(instance: string, agent: string, remaining: number): void;
  /** The gateway took it away. */
  closed(instance: string): void;
  /** What is kept for its app session now. */
  keep(instance: string, revision: number, data: JsonObject): void;
  /** Its frame was taken out of one place of the page: it gets a new one in another. */
  moved(instance: string): void;

  // ---- the person
  answer(instance: string, yes: boolean): void;
  /** Brings one of them to the front. */
  select(instance: string): void;
  /** Back to the page. */
  leave(): void;
  close(instance: string): void;

  // ---- the document
  /** Whether the one in front can be seen: the document is visible, and so is the frame. */
  seen(isSeen: boolean): void;
  hidden(): void;
  locked(): void;
  unlocked(): void;
  /** The document came back from the back/forward cache. */
  restored(): void;
  expire(): void;

  get(instance: string): Instance | undefined;
  all(): Instance[];
  readonly front: string | undefined;
  questions(): readonly Question[];
  /** The page session is another one, or the host ended: everything goes, and nothing is said of it. */
  abandon(): void;
}

/** What nothing of a frame depends on. */
const isSame = (a: AppOpenFrame, b: AppOpenFrame): boolean =>
  (['app', 'version', 'surface', 'sandbox', 'bundle', 'integrity', 'title', 'handlers', 'profile'] as const).every((field) => a[field] === b[field]) &&
  a.events.join() === b.events.join() &&
  a.sent?.agent === b.sent?.agent;

export function createInstances(ports: InstancePorts): Instances {
  const instances = new Map<string, Instance>();
  let questions: Question[] = [];
  let front: string | undefined;
  /** What the gateway was told last of the one in front. */
  let told: 'nothing' | 'foregrounded' | 'backgrounded' | 'locked' = 'nothing';
  /** The gateway asked for the one in front, and hears of it as news. */
  let isAwaited = false;
  let isSeen = false;

  const intend = (instance: string, what: HostIntent): void => ports.say({ type: 'intent', instance, what });
  const news = (instance: string, what: 'opened' | 'foregrounded' | 'refused'): void => ports.say({ type: 'app_news', instance, what });
  const forget = (instance: string): void => {
    questions = questions.filter((question) => question.instance !== instance);
  };
  const lower = (): void => {
    front = undefined;
    told = 'nothing';
    isAwaited = false;
    ports.remember(undefined);
  };

  /** Says that the one in front is there, once it is there to see. */
  const confirm = (): void => {
    if (front === undefined || !isSeen || !instances.get(front)?.isOpen || (told === 'foregrounded' && !isAwaited)) return;
    told = 'foregrounded';
    if (isAwaited) news(front, 'foregrounded');
    else intend(front, 'foregrounded');
    isAwaited = false;
  };

  const raise = (instance: string, awaited: boolean): void => {
    if (front === instance) {
      isAwaited ||= awaited;
      return confirm();
    }
    if (front !== undefined) intend(front, 'left_workspace');
    front = instance;
    told = 'nothing';
    isAwaited = awaited;
    // Whether it can be seen is known once it was drawn.
    isSeen = false;
    ports.remember(instance);
  };

  const drop = (instance: string): boolean => {
    if (!instances.delete(instance)) return false;
    forget(instance);
    if (front === instance) lower();
    ports.unmount(instance);
    return true;
  };

  const change = (task: () => void): void => {
    task();
    ports.onChange();
  };

  return {
    open: (frame) =>
      change(() => {
        const { instance, state } = frame;
        const known = instances.get(instance);
        if (known && isSame(known.open, frame)) {
          instances.set(instance, { ...known, open: frame, state });
          ports.show(instance, state);
          if (known.isOpen) news(instance, 'opened');
          return;
        }
        if (!known && instances.size >= MOST) {
          ports.say({ type: 'app_news', instance, what: 'failed', code: 'too_many', message: `${MOST} mini apps are open on this page` });
          return;
        }
        if (known) ports.unmount(instance);
        instances.set(instance, { open: frame, state, isOpen: false });
        ports.mount(frame);
      }),
    setState: (instance, state) =>
      change(() => {
        const known = instances.get(instance);
        if (!known) return;
        instances.set(instance, { ...known, state });
        ports.show(instance, state);
      }),
    mounted: (instance) =>
      change(() => {
        const known = instances.get(instance);
        if (!known || known.isOpen) return;
        instances.set(instance, { ...known, isOpen: true });
        news(instance, 'opened');
        if (front === undefined && ports.remembered() === instance) {
          intend(instance, 'restored');
          raise(instance, false);
        }
        confirm();
      }),
    failed: (instance, code, message) =>
      change(() => {
        if (!drop(instance)) return;
        ports.say({ type: 'app_news', instance, what: 'failed', code, message });
      }),
    ask: (instance, agent, remaining) =>
      change(() => {
        if (!instances.has(instance)) return;
        // What is in front already needs no question, only eyes.
        if (front === instance) return raise(instance, true);
        forget(instance);
        questions = [...questions, { instance, agent, endsAt: ports.now() + remaining }];
      }),
    closed: (instance) => change(() => void drop(instance)),
    keep(instance, revision, data) {
      const known = instances.get(instance);
      if (known) instances.set(instance, { ...known, open: { ...known.open, revision, data } });
    },
    moved: (instance) =>
      change(() => {
        const known = instances.get(instance);
        if (!known) return;
        instances.set(instance, { ...known, isOpen: false });
        ports.mount(known.open);
      }),

    answer: (instance, yes) =>
      change(() => {
        if (!questions.some((question) => question.instance === instance)) return;
        forget(instance);
        if (yes) raise(instance, true);
        else news(instance, 'refused');
      }),
    select: (instance) =>
      change(() => {
        if (!instances.has(instance)) return;
        const wasAsked = questions.some((question) => question.instance === instance);
        forget(instance);
        raise(instance, wasAsked);
      }),
    leave: () =>
      change(() => {
        if (front === undefined) return;
        intend(front, 'left_workspace');
        lower();
      }),
    close: (instance) =>
      change(() => {
        if (drop(instance)) intend(instance, 'closed');
      }),

    seen(now) {
      isSeen = now;
      confirm();
    },
    hidden() {
      isSeen = false;
      if (front === undefined || told !== 'foregrounded') return;
      told = 'backgrounded';
      intend(front, 'backgrounded');
    },
    locked() {
      isSeen = false;
      if (front === undefined || told === 'locked') return;
      told = 'locked';
      intend(front, 'locked');
    },
    unlocked() {
      if (told === 'locked') told = 'backgrounded';
    },
    restored() {
      for (const [instance, { isOpen }] of instances) if (isOpen) intend(instance, 'restored');
    },
    expire: () =>
      change(() => {
        questions = questions.filter(({ endsAt }) => endsAt > ports.now());
      }),

    get: (instance) => instances.get(instance),
    all: () => [...instances.values()],
    get front() {
      return front;
    },
    questions: () => questions,
    abandon: () =>
      change(() => {
        for (const instance of [...instances.keys()]) drop(instance);
        questions = [];
      }),
  };
}

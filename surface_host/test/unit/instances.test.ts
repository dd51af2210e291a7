import { describe, expect, test } from 'vitest';
import { createInstances, MOST, type Instances, type Word } from '../../src/apps/instances.js';
import type { AppOpenFrame } from '../../src/protocol/apps.js';

const opening = (instance = 'i.1', more: Partial<AppOpenFrame> = {}): AppOpenFrame => ({
  type: 'app',
  op: 'open',
  instance,
  app: 'dev.ostiary.pomodoro',
  version: '1.0.0',
  title: 'Pomodoro',
  surface: 'main',
  sandbox: '/sandbox/v1/frame/todo',
  bundle: '/sandbox/v1/apps/0/main',
  integrity: 'sha256-A',
  events: [],
  handlers: false,
  profile: 'strict',
  state: {},
  revision: 0,
  data: {},
  ...more,
});

interface Rig {
  readonly instances: Instances;
  readonly said: string[];
  readonly frames: string[];
  readonly memory: { front?: string | undefined };
  now: number;
}

const words = (word: Word): string => `${word.type === 'intent' ? 'intent ' : ''}${word.what}${'code' in word ? `:${word.code}` : ''} ${word.instance}`;

function rig(front?: string): Rig {
  const said: string[] = [];
  const frames: string[] = [];
  const memory: Rig['memory'] = { front };
  const made: Rig = {
    said,
    frames,
    memory,
    now: 0,
    instances: createInstances({
      now: () => made.now,
      say: (word) => said.push(words(word)),
      mount: ({ instance }) => frames.push(`+${instance}`),
      unmount: (instance) => frames.push(`-${instance}`),
      show: (instance, state) => frames.push(`${instance}=${JSON.stringify(state)}`),
      remembered: () => memory.front,
      remember: (instance) => (memory.front = instance),
      onChange: () => undefined,
    }),
  };
  return made;
}

/** One that is open, and in front where the person can see it. */
function inFront(instance = 'i.1', made = rig()): Rig {
  made.instances.open(opening(instance));
  made.instances.mounted(instance);
  made.instances.ask(instance, 'alice', 60_000);
  made.instances.answer(instance, true);
  made.instances.seen(true);
  made.said.length = 0;
  return made;
}

describe('opening', () => {
  test('a frame is mounted in the background, and told when its bundle runs', () => {
    const { instances, said, frames } = rig();
    instances.open(opening());
    expect([said, frames]).toEqual([[], ['+i.1']]);
    instances.mounted('i.1');
    instances.seen(true);
    expect(said).toEqual(['opened i.1']);
    expect(instances.front).toBeUndefined();
  });

  test('the same again changes the state alone and is told again', () => {
    const { instances, said, frames } = rig();
    instances.open(opening());
    instances.mounted('i.1');
    instances.open(opening('i.1', { state: { phase: 'focusing' }, revision: 7, data: { a: 1 } }));
    expect(frames).toEqual(['+i.1', 'i.1={"phase":"focusing"}']);
    expect(said).toEqual(['opened i.1', 'opened i.1']);
  });

  test.each([{ integrity: 'sha256-B' }, { version: '1.0.1' }, { events: ['draw'] }, { profile: 'compat' as const }, { surface: 'other' }])(
    'another %j replaces the frame',
    (change) => {
      const { instances, frames } = rig();
      instances.open(opening());
      instances.mounted('i.1');
      instances.open(opening('i.1', change));
      expect(frames).toEqual(['+i.1', '-i.1', '+i.1']);
      expect(instances.get('i.1')?.isOpen).toBe(false);
    },
  );

  test('as many as fit, and no more', () => {
    const { instances, said } = rig();
    for (let n = 0; n <= MOST; n += 1) instances.open(opening(`i.${n}`));
    expect(instances.all()).toHaveLength(MOST);
    expect(said).toEqual([`failed:too_many i.${MOST}`]);
  });

  test('one that failed is gone, and its question with it', () => {
    const { instances, said } = rig();
    instances.open(opening());
    instances.ask('i.1', '', 60_000);
    instances.failed('i.1', 'integrity', 'no');
    expect(instances.questions()).toEqual([]);
    instances.failed('i.1', 'integrity', 'again');
    expect(said).toEqual(['failed:integrity i.1']);
  });
});

describe('the foreground', () => {
  test('is the person’s to give', () => {
    const { instances, said } = rig();
    instances.open(opening());
    instances.mounted('i.1');
    instances.ask('i.1', 'alice', 60_000);
    instances.seen(true);
    expect(said).toEqual(['opened i.1']);
    instances.answer('i.1', true);
    expect(said).toEqual(['opened i.1']);
    instances.seen(true);
    expect(said).toEqual(['opened i.1', 'foregrounded i.1']);
    instances.answer('i.1', true);
    expect(said).toHaveLength(2);
  });

  test('is refused by the person', () => {
    const { instances, said } = rig();
    instances.open(opening());
    instances.ask('i.1', 'alice', 60_000);
    instances.answer('i.1', false);
    instances.answer('i.1', true);
    expect(said).toEqual(['refused i.1']);
    expect(instances.front).toBeUndefined();
  });

  test('is confirmed neither before the bundle runs nor while nobody can see it', () => {
    const { instances, said } = rig();
    instances.open(opening());
    instances.ask('i.1', 'alice', 60_000);
    instances.answer('i.1', true);
    instances.seen(true);
    expect(said).toEqual([]);
    instances.seen(false);
    instances.mounted('i.1');
    expect(said).toEqual(['opened i.1']);
    instances.seen(true);
    expect(said).toEqual(['opened i.1', 'foregrounded i.1']);
  });

  test('needs no question where it is already, only eyes', () => {
    const { instances, said } = inFront();
    instances.ask('i.1', 'bob', 60_000);
    expect(instances.questions()).toEqual([]);
    expect(said).toEqual(['foregrounded i.1']);
    instances.hidden();
    instances.ask('i.1', 'bob', 60_000);
    expect(said).toEqual(['foregrounded i.1', 'intent backgrounded i.1']);
    instances.seen(true);
    expect(said.at(-1)).toBe('foregrounded i.1');
  });

  test('of another one leaves the first', () => {
    const { instances, said } = inFront();
    instances.open(opening('i.2'));
    instances.mounted('i.2');
    instances.ask('i.2', 'bob', 60_000);
    instances.answer('i.2', true);
    instances.seen(true);
    expect(said).toEqual(['opened i.2', 'intent left_workspace i.1', 'foregrounded i.2']);
  });

  test('taken by the person without a question is an intent, with one it is the answer', () => {
    const { instances, said } = rig();
    for (const instance of ['i.1', 'i.2']) {
      instances.open(opening(instance));
      instances.mounted(instance);
    }
    said.length = 0;
    instances.select('i.1');
    instances.seen(true);
    instances.ask('i.2', 'bob', 60_000);
    instances.select('i.2');
    instances.seen(true);
    expect(said).toEqual(['intent foregrounded i.1', 'intent left_workspace i.1', 'foregrounded i.2']);
    expect(instances.questions()).toEqual([]);
  });

  test('a question runs out without a word', () => {
    const made = rig();
    made.instances.open(opening());
    made.instances.ask('i.1', 'alice', 1_000);
    made.now = 999;
    made.instances.expire();
    expect(made.instances.questions()).toHaveLength(1);
    made.now = 1_000;
    made.instances.expire();
    made.instances.answer('i.1', true);
    expect(made.said).toEqual([]);
  });
});

describe('going', () => {
  test('back leaves, and leaving twice says nothing', () => {
    const { instances, said } = inFront();
    instances.leave();
    instances.leave();
    expect(said).toEqual(['intent left_workspace i.1']);
    expect(instances.get('i.1')?.isOpen).toBe(true);
  });

  test('closing is closing, not leaving too', () => {
    const { instances, said, frames } = inFront();
    instances.close('i.1');
    expect(said).toEqual(['intent closed i.1']);
    expect(frames.at(-1)).toBe('-i.1');
  });

  test('what the gateway closes is not told back', () => {
    const { instances, said } = inFront();
    instances.closed('i.1');
    expect(said).toEqual([]);
    expect(instances.front).toBeUndefined();
  });

  test('a hidden tab and a locked screen are no leaving', () => {
    const { instances, said } = inFront();
    instances.hidden();
    instances.hidden();
    instances.seen(true);
    instances.locked();
    instances.locked();
    instances.unlocked();
    instances.seen(true);
    expect(said).toEqual(['intent backgrounded i.1', 'intent foregrounded i.1', 'intent locked i.1', 'intent foregrounded i.1']);
  });

  test('what happens to the document is told of the one in front alone', () => {
    const { instances, said } = rig();
    instances.open(opening());
    instances.mounted('i.1');
    said.length = 0;
    instances.hidden();
    instances.locked();
    instances.leave();
    expect(said).toEqual([]);
  });
});

describe('coming back', () => {
  test('a loaded document has again in front what was in front', () => {
    const { instances, said, memory } = rig('i.1');
    instances.open(opening('i.2'));
    instances.mounted('i.2');
    instances.open(opening('i.1'));
    expect(instances.front).toBeUndefined();
    instances.mounted('i.1');
    instances.seen(true);
    expect(said).toEqual(['opened i.2', 'opened i.1', 'intent restored i.1', 'intent foregrounded i.1']);
    expect(memory.front).toBe('i.1');
  });

  test('what was left or closed is not remembered', () => {
    const { instances, memory } = inFront();
    expect(memory.front).toBe('i.1');
    instances.leave();
    expect(memory.front).toBeUndefined();
  });

  test('a document from the back/forward cache says what it still has', () => {
    const { instances, said } = inFront();
    instances.open(opening('i.2'));
    instances.restored();
    expect(said).toEqual(['intent restored i.1']);
  });

  test('another page session begins with nothing and says nothing', () => {
    const { instances, said, frames } = inFront();
    instances.abandon();
    expect([said, instances.all(), frames.at(-1)]).toEqual([[], [], '-i.1']);
  });

  test('a frame that moved begins again', () => {
    const { instances, said, frames } = inFront();
    instances.moved('i.1');
    expect(frames.at(-1)).toBe('+i.1');
    instances.mounted('i.1');
    expect(said).toEqual(['opened i.1']);
  });
});

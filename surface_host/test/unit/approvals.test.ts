import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPromptQueue, PROMPT_TABLE, type PromptEvent, type PromptState } from '../../src/core/index.js';
import { payloadOf } from './support.js';

const make = () =>
  createPromptQueue(
    () => 0,
    () => undefined,
  );
const add = (queue: ReturnType<typeof make>, approval: string) => queue.add(payloadOf({ approval }), 'hash', 1000);

describe('prompt queue', () => {
  test('the table is closed: only the gateway ends a prompt, only an open one can be decided', () => {
    const rows = Object.entries(PROMPT_TABLE) as [PromptState, Partial<Record<PromptEvent, PromptState>>][];
    for (const [state, row] of rows) {
      expect(row.decide !== undefined).toBe(state === 'open');
      for (const [event, next] of Object.entries(row)) {
        if (next === 'closed') expect(['approved', 'denied', 'expired', 'withdrawn']).toContain(event);
      }
    }
    expect(PROMPT_TABLE.closed).toEqual({});
  });

  test('a newcomer never takes the place of what is shown', () => {
    const queue = make();
    add(queue, 'a');
    add(queue, 'b');
    expect(queue.shown()?.payload.approval).toBe('a');
    queue.event('a', 'approved');
    expect(queue.shown()?.payload.approval).toBe('b');
  });

  test('putting aside is no answer, and the prompt can be brought back', () => {
    const queue = make();
    add(queue, 'a');
    queue.putAside('a');
    expect(queue.shown()).toBeUndefined();
    expect(queue.open()).toHaveLength(1);
    queue.bringBack('a');
    expect(queue.shown()?.state).toBe('open');
  });

  test('the one that was asked for is brought back, and stays while others come and go', () => {
    const queue = make();
    for (const id of ['a', 'b', 'c']) add(queue, id);
    queue.bringBack('b');
    expect(queue.shown()?.payload.approval).toBe('b');
    queue.event('c', 'withdrawn');
    add(queue, 'd');
    expect(queue.shown()?.payload.approval).toBe('b');
  });

  test('agent_left greys, open lights again', () => {
    const queue = make();
    add(queue, 'a');
    queue.event('a', 'agent_left');
    expect(queue.decide('a', { decision: 'approve', visible: true })).toBe(false);
    queue.event('a', 'open');
    expect(queue.decide('a', { decision: 'approve', visible: true })).toBe(true);
    expect(queue.shown()?.state).toBe('sending');
  });

  test('an answer that did not count is taken back and says why', () => {
    const queue = make();
    const prompt = add(queue, 'a');
    queue.decide('a', { decision: 'approve', visible: false });
    queue.event('a', 'open', 'not_visible');
    expect(prompt).toMatchObject({ state: 'open', code: 'not_visible' });
    expect(prompt.decision).toBeUndefined();
  });

  test('nothing is decided after the time, and nothing twice', () => {
    const queue = make();
    add(queue, 'a');
    queue.event('a', 'time_up');
    expect(queue.decide('a', { decision: 'approve', visible: true })).toBe(false);
    add(queue, 'b');
    expect(queue.decide('b', { decision: 'deny', visible: true })).toBe(true);
    expect(queue.decide('b', { decision: 'approve', visible: true })).toBe(false);
    expect(queue.find('b')?.decision?.decision).toBe('deny');
  });

  test('a prompt of another epoch or page session ends', () => {
    const queue = make();
    queue.add(payloadOf({ approval: 'old', epoch: 1 }), 'h', 1);
    queue.add(payloadOf({ approval: 'now', epoch: 2 }), 'h', 1);
    queue.dropExcept('page-1', 2);
    expect(queue.open().map(({ payload }) => payload.approval)).toEqual(['now']);
  });

  test('whatever happens, answers stay with their prompt and one open prompt is shown if none is put aside', () => {
    const events = ['decide', 'time_up', 'open', 'agent_left', 'approved', 'denied', 'expired', 'withdrawn', 'aside', 'back', 'add'] as const;
    const step = fc.record({ event: fc.constantFrom(...events), id: fc.constantFrom('a', 'b', 'c'), yes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = make();
        const given = new Map<string, string>();
        for (const { event, id, yes } of steps) {
          const before = queue.shown();
          const others = ['a', 'b', 'c'].filter((other) => other !== id).map((other) => queue.find(other)?.decision);
          if (event === 'add') {
            if (!queue.find(id)) add(queue, id);
          } else if (event === 'aside') queue.putAside(id);
          else if (event === 'back') queue.bringBack(id);
          else if (event === 'decide') {
            const decision = yes ? 'approve' : 'deny';
            const open = queue.find(id)?.state === 'open';
            expect(queue.decide(id, { decision, visible: true })).toBe(open);
            if (open) given.set(id, decision);
          } else if (queue.event(id, event) && event === 'open') given.delete(id);

          // Nobody else's answer moved, and the recorded answer is the one given.
          expect(['a', 'b', 'c'].filter((other) => other !== id).map((other) => queue.find(other)?.decision)).toEqual(others);
          expect(queue.find(id)?.decision?.decision).toBe(given.get(id));

          const shown = queue.shown();
          const showable = queue.open().filter((prompt) => !prompt.aside);
          expect(shown === undefined).toBe(showable.length === 0);
          if (shown) expect(showable).toContain(shown);
          // The dialog changes its subject only by the events that end it, put it aside, or bring another back.
          if (before && showable.includes(before) && event !== 'back') expect(shown).toBe(before);
        }
      }),
    );
  });
});

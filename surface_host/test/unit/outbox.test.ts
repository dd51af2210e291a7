import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOutbox, type Answer } from '../../src/core/index.js';

const result = (ref: string): Answer => ({ type: 'result', ref, epoch: 1, ok: true, output: ref });
const refused = (ref: string): Answer => ({ type: 'refused', ref, why: 'stale_epoch' });

describe('outbox', () => {
  test('one ref is admitted once, also after its answer was stored', () => {
    const outbox = createOutbox();
    expect(outbox.admit('a')).toBe(true);
    outbox.settle(result('a'));
    outbox.ack('a');
    expect(outbox.admit('a')).toBe(false);
  });

  test('a result waits until it is acknowledged', () => {
    const outbox = createOutbox();
    outbox.admit('a');
    outbox.settle(result('a'));
    expect(outbox.unsent()).toEqual([result('a')]);
    expect(outbox.unsent()).toEqual([result('a')]);
    outbox.ack('a');
    expect(outbox.unsent()).toEqual([]);
    expect(outbox.known('a')).toEqual(result('a'));
  });

  test('a refusal has no ack: it is repeated once', () => {
    const outbox = createOutbox();
    outbox.admit('a');
    outbox.settle(refused('a'));
    expect(outbox.unsent()).toHaveLength(1);
    expect(outbox.unsent()).toEqual([]);
  });

  test('the first answer stands', () => {
    const outbox = createOutbox();
    outbox.admit('a');
    outbox.settle(result('a'));
    outbox.settle(refused('a'));
    expect(outbox.known('a')).toEqual(result('a'));
  });

  test('another page session inherits nothing, and work still running for the old one stays silent', () => {
    const outbox = createOutbox();
    outbox.admit('done');
    outbox.settle(result('done'));
    outbox.admit('running');
    outbox.started('running');
    outbox.forgetAnswers();
    outbox.settle(result('running'));
    expect(outbox.unsent()).toEqual([]);
    expect(outbox.admit('done')).toBe(false);
  });

  test('hello names at most 256 refs, the unsettled ones first', () => {
    const outbox = createOutbox();
    outbox.admit('old-open');
    for (let i = 0; i < 400; i += 1) {
      outbox.admit(`r${i}`);
      outbox.settle(result(`r${i}`));
      outbox.ack(`r${i}`);
    }
    const seen = outbox.seen();
    expect(seen).toHaveLength(256);
    expect(seen[0]).toBe('old-open');
    expect(seen).toContain('r399');
    expect(seen).not.toContain('r0');
  });

  test('whatever happens: one admission, one answer, and unacknowledged results are never lost', () => {
    const step = fc.record({ op: fc.constantFrom('admit', 'started', 'settle', 'ack', 'unsent', 'seen'), ref: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outbox = createOutbox();
        const admitted = new Set<string>();
        const waiting = new Set<string>();
        const answered = new Map<string, Answer>();
        for (const { op, ref } of steps) {
          if (op === 'admit') expect(outbox.admit(ref)).toBe(!admitted.has(ref)), admitted.add(ref);
          if (op === 'started') outbox.started(ref);
          if (op === 'settle') {
            const answer = result(ref);
            outbox.settle(answer);
            if (admitted.has(ref) && !answered.has(ref)) answered.set(ref, answer), waiting.add(ref);
          }
          if (op === 'ack') outbox.ack(ref), waiting.delete(ref);
          expect(new Set(outbox.unsent().map((frame) => frame.ref))).toEqual(waiting);
          for (const [done, answer] of answered) expect(outbox.known(done)).toBe(answer);
          for (const open of waiting) expect(outbox.seen()).toContain(open);
        }
      }),
    );
  });
});

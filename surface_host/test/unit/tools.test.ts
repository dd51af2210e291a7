import { describe, expect, test } from 'vitest';
import { createTools } from '../../src/apps/tools.js';
import type { AppNewsFrame, AppToolFrame } from '../../src/protocol/apps.js';
import type { ToApp } from '../../src/sandbox/words.js';

const call = (more: Partial<AppToolFrame> = {}): AppToolFrame => ({
  type: 'app',
  op: 'tool',
  instance: 'i.1',
  ref: 'call_a',
  method: 'todo.add',
  arguments: '{"text":"milk"}',
  deadline: 30_000,
  ...more,
});

function rig() {
  const sent: AppNewsFrame[] = [];
  const told: [string, ToApp][] = [];
  const clocks: (() => void)[] = [];
  const frames = new Set(['i.1']);
  const tools = createTools({
    send: (frame) => void sent.push(frame),
    tell(instance, message) {
      if (!frames.has(instance)) return false;
      told.push([instance, message]);
      return true;
    },
    later(_, task) {
      clocks.push(task);
      return () => void clocks.splice(clocks.indexOf(task), 1);
    },
  });
  return { tools, sent, told, clocks, frames };
}

describe('tools of a frame', () => {
  test('a call goes to the handler and its answer back', () => {
    const { tools, sent, told, clocks } = rig();
    tools.call(call());
    expect(told).toEqual([['i.1', { type: 'call', ref: 'call_a', method: 'todo.add', arguments: { text: 'milk' } }]]);
    expect(tools.hear('i.1', { type: 'started', ref: 'call_a' })).toBe(true);
    expect(tools.hear('i.1', { type: 'progress', ref: 'call_a', n: 1, total: 2 })).toBe(true);
    expect(tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: { id: '1' } })).toBe(true);
    expect(sent.map((frame) => frame.what)).toEqual(['started', 'progress', 'result']);
    expect(clocks).toEqual([]);
  });

  test('the same ref runs once, and is answered again from what is known', () => {
    const { tools, sent, told } = rig();
    tools.call(call());
    tools.call(call());
    expect(sent).toEqual([]);
    tools.hear('i.1', { type: 'started', ref: 'call_a' });
    tools.call(call());
    tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 1 });
    tools.call(call());
    expect(told).toHaveLength(1);
    expect(sent.map((frame) => frame.what)).toEqual(['started', 'started', 'result', 'result']);
  });

  test('a frame answers only what was handed to it, and once', () => {
    const { tools, sent, frames } = rig();
    frames.add('i.2');
    tools.call(call());
    expect(tools.hear('i.2', { type: 'result', ref: 'call_a', ok: true, output: 'forged' })).toBe(false);
    expect(tools.hear('i.1', { type: 'result', ref: 'call_b', ok: true, output: 'made up' })).toBe(false);
    tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 1 });
    expect(tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 2 })).toBe(false);
    expect(sent).toHaveLength(1);
  });

  test('without a frame there is an answer all the same', () => {
    const { tools, sent } = rig();
    tools.call(call({ instance: 'i.9' }));
    expect(sent).toMatchObject([{ instance: 'i.9', what: 'result', ok: false, error: { code: 'not_available' } }]);
  });

  test.each(['[]', '1', '{'])('arguments `%s` reach no handler', (text) => {
    const { tools, sent, told } = rig();
    tools.call(call({ arguments: text }));
    expect([told, sent]).toMatchObject([[], [{ ok: false, error: { code: 'arguments_invalid' } }]]);
  });

  test('at its deadline and at a cancel the handler is asked to stop', () => {
    const { tools, told, clocks } = rig();
    tools.call(call());
    tools.cancel('i.2', 'call_a');
    expect(told).toHaveLength(1);
    tools.cancel('i.1', 'call_a');
    clocks[0]?.();
    expect(told.slice(1)).toEqual([
      ['i.1', { type: 'cancel', ref: 'call_a' }],
      ['i.1', { type: 'cancel', ref: 'call_a' }],
    ]);
  });

  test('an answer is sent again until it is stored', () => {
    const { tools } = rig();
    tools.call(call());
    tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 1 });
    expect(tools.unsent()).toHaveLength(1);
    expect(tools.unsent()).toHaveLength(1);
    tools.ack('call_a');
    expect(tools.unsent()).toEqual([]);
    expect(tools.seen()).toEqual(['call_a']);
  });

  test('what a lost frame was doing is nobody’s to answer any more', () => {
    const { tools, sent, clocks } = rig();
    tools.call(call());
    expect(tools.lost('i.1')).toBe(true);
    expect(tools.lost('i.1')).toBe(false);
    expect(tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 1 })).toBe(false);
    tools.call(call());
    expect([sent, clocks]).toEqual([[], []]);
    expect(tools.seen()).toEqual(['call_a']);
  });

  test('another page session hears nothing of the former', () => {
    const { tools, clocks } = rig();
    tools.call(call());
    tools.hear('i.1', { type: 'started', ref: 'call_a' });
    tools.abandon();
    expect(tools.hear('i.1', { type: 'result', ref: 'call_a', ok: true, output: 1 })).toBe(false);
    expect([tools.unsent(), clocks]).toEqual([[], []]);
    tools.call(call({ ref: 'call_b' }));
    tools.hear('i.1', { type: 'result', ref: 'call_b', ok: true, output: 'of the former' });
    expect(tools.unsent()).toHaveLength(1);
    tools.abandon();
    expect(tools.unsent()).toEqual([]);
  });
});

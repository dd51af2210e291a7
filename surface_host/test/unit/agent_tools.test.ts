import { afterEach, describe, expect, test, vi } from 'vitest';
import { deadlineOperation, defineAgentTools, interruptOperation, tool, ToolFailed, type MiniAppDeclaration } from '../../src/agent-tools.js';
import type { ServedCall } from '../../src/sandbox/prelude.js';

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };

const notes = (over: Partial<MiniAppDeclaration> = {}): MiniAppDeclaration => ({
  app: { id: 'com.example.board', name: 'Board', version: '1.0.0', description: 'Keeps cards.' },
  tools: [
    tool<{ text: string }>({
      method: 'board.add',
      title: 'Add a card',
      description: 'Adds one card.',
      inputSchema: schema,
      outputSchema: { type: 'object' },
      handler: function secretName({ text }) {
        return { text };
      },
    }),
  ],
  surfaces: [{ id: 'board', title: 'Board', html: 'surface/board.html', js: 'surface/board.js' }],
  ...over,
});

const call = (over: Partial<ServedCall> = {}): ServedCall => ({
  ref: 'call_1',
  method: 'board.add',
  arguments: { text: 'milk' },
  signal: new AbortController().signal,
  started: () => undefined,
  progress: () => undefined,
  ...over,
});

const failing = (handler: () => unknown): MiniAppDeclaration => {
  const [first] = notes().tools;
  return notes({ tools: [{ ...first, handler } as never] });
};

describe('the declaration', () => {
  test('is the part of a manifest that is declared, with the defaults written out', () => {
    expect(defineAgentTools(notes()).declaration).toEqual({
      app: { id: 'com.example.board', name: 'Board', version: '1.0.0', description: 'Keeps cards.' },
      contract_version: '1',
      tools: [
        {
          method: 'board.add',
          title: 'Add a card',
          description: 'Adds one card.',
          input_schema: schema,
          output_schema: { type: 'object' },
          effect: 'write',
          risk: 'display_only',
          confirm: 'policy',
          readiness: 'app_ready',
          call_model: 'command',
          timeout_ms: 30_000,
          permissions: [],
          idempotency: 'call_id',
          visibility: 'agents',
          requires: [],
          not_started: null,
          handler: { kind: 'miniapp_sdk' },
        },
      ],
      surfaces: [{ id: 'board', title: 'Board', html: 'surface/board.html', css: null, js: 'surface/board.js', events: [] }],
      activation: { on_activate: false, on_deactivate: false },
      leaving: { left_workspace: 'keep', closed: 'keep' },
    });
  });

  test('holds no handler, no private name and nothing that runs', () => {
    const text = JSON.stringify(defineAgentTools(notes()).declaration);
    expect(text).not.toMatch(/secretName|function|=>|return/);
    const plain = (value: unknown): boolean => typeof value !== 'function' && (typeof value !== 'object' || value === null || Object.values(value).every(plain));
    expect(plain(defineAgentTools(notes()).declaration)).toBe(true);
  });

  test('names what the runtime carries as the manifest does', () => {
    const base = { title: 't', description: 'd', inputSchema: schema, outputSchema: schema };
    const { declaration } = defineAgentTools(
      notes({
        tools: [
          { ...base, method: 'focus.start', callModel: 'operation', runtime: deadlineOperation({ argument: 'minutes', unitMs: 60_000, completed: { a: 1 }, interrupted: { a: 2 } }) },
          { ...base, method: 'focus.stop', runtime: interruptOperation({ cancelledStart: { a: 1 }, interrupted: { a: 2 }, nothing: { a: 3 } }), notStarted: { a: 4 } },
        ],
        leaving: { leftWorkspace: 'interrupt' },
      }),
    );
    expect(declaration).toMatchObject({
      tools: [
        {
          readiness: 'activation_not_required',
          call_model: 'operation',
          handler: { kind: 'runtime', runtime: 'deadline_operation', duration: { argument: 'minutes', unit_ms: 60_000 }, answers: { completed: { a: 1 }, interrupted: { a: 2 } } },
        },
        {
          not_started: { a: 4 },
          handler: { kind: 'runtime', runtime: 'interrupt_operation', answers: { cancelled_start: { a: 1 }, interrupted: { a: 2 }, nothing: { a: 3 } } },
        },
      ],
      leaving: { left_workspace: 'interrupt', closed: 'keep' },
    });
  });

  test('says no method twice', () => {
    const [first] = notes().tools;
    expect(() => defineAgentTools(notes({ tools: [first!, first!] }))).toThrow('`board.add` is declared twice');
  });
});

describe('a call', () => {
  test('is answered by the handler of its method, which is told when it starts', async () => {
    const started = vi.fn();
    expect(await defineAgentTools(notes()).answer(call({ started }))).toEqual({ output: { text: 'milk' } });
    expect(started).toHaveBeenCalledOnce();
  });

  test.each(['board.remove', 'constructor', '__proto__', 'toString'])('of `%s`, which has no handler, is not available and never starts', async (method) => {
    const started = vi.fn();
    expect(await defineAgentTools(notes()).answer(call({ method, started }))).toMatchObject({ code: 'not_available' });
    expect(started).not.toHaveBeenCalled();
  });

  test('gets what it was given, unjudged: the gateway has judged it', async () => {
    expect(await defineAgentTools(notes()).answer(call({ arguments: { text: 7, more: true } }))).toEqual({ output: { text: 7 } });
  });

  test.each([
    [() => Promise.reject(new Error('the board is full')), { code: 'handler_error', message: 'the board is full' }],
    [() => { throw new ToolFailed('not_available', 'closed for today'); }, { code: 'not_available', message: 'closed for today' }],
    [() => Promise.reject(new DOMException('put aside', 'AbortError')), { code: 'cancelled', message: 'put aside' }],
    [() => Promise.reject('only text'), { code: 'handler_error', message: 'only text' }],
    [() => Promise.reject({ code: 'denied', message: 'made up' }), { code: 'handler_error', message: 'made up' }],
  ])('that fails says how: %#', async (handler, told) => {
    expect(await defineAgentTools(failing(handler)).answer(call())).toEqual(told);
  });

  test('that was cancelled before does not start', async () => {
    const controller = new AbortController();
    controller.abort();
    const started = vi.fn();
    expect(await defineAgentTools(notes()).answer(call({ signal: controller.signal, started }))).toMatchObject({ code: 'cancelled' });
    expect(started).not.toHaveBeenCalled();
  });

  test('that is cancelled while it runs is cancelled whatever the handler throws', async () => {
    const controller = new AbortController();
    const answer = defineAgentTools(failing(() => { controller.abort(); throw new Error('interrupted'); })).answer(call({ signal: controller.signal }));
    expect(await answer).toEqual({ code: 'cancelled', message: 'interrupted' });
  });
});

describe('where it is declared', () => {
  const around = globalThis as { OstiaryApp?: unknown; [name: symbol]: unknown };
  const DECLARE = Symbol.for('ostiary.declare');
  afterEach(() => {
    delete around.OstiaryApp;
    delete around[DECLARE];
  });

  test('a frame serves it', () => {
    const serve = vi.fn();
    around.OstiaryApp = { serve };
    const tools = defineAgentTools(notes());
    expect(serve).toHaveBeenCalledExactlyOnceWith(tools.answer);
  });

  test('a build reads it', () => {
    const declare = vi.fn();
    around[DECLARE] = declare;
    expect(declare).not.toHaveBeenCalled();
    const { declaration } = defineAgentTools(notes());
    expect(declare).toHaveBeenCalledExactlyOnceWith(declaration);
  });
});

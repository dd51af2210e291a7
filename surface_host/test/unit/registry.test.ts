import { describe, expect, test } from 'vitest';
import { createRegistry, DECLARATION_LIMIT } from '../../src/core/index.js';
import { todo } from './support.js';

const make = () => {
  let changes = 0;
  return { registry: createRegistry(() => (changes += 1)), changes: () => changes };
};

describe('registry', () => {
  test('a late goodbye of an old registration leaves the newer one', () => {
    const { registry } = make();
    const first = registry.register(todo({ title: 'old' }));
    registry.register(todo({ title: 'new' }));
    first();
    expect(registry.find('todo.add')?.declaration.title).toBe('new');
  });

  test('mount, unmount, mount again leaves one registration', () => {
    const { registry } = make();
    registry.register(todo())();
    registry.register(todo());
    expect(registry.all()).toHaveLength(1);
  });

  test('disposing twice takes nothing from a successor', () => {
    const { registry } = make();
    const dispose = registry.register(todo());
    dispose();
    registry.register(todo());
    dispose();
    expect(registry.all()).toHaveLength(1);
  });

  test('an aborted signal takes the registration away, and only its own', () => {
    const { registry } = make();
    const controller = new AbortController();
    registry.register(todo({ title: 'old' }), { signal: controller.signal });
    registry.register(todo({ title: 'new' }));
    controller.abort();
    expect(registry.find('todo.add')?.declaration.title).toBe('new');

    const other = new AbortController();
    registry.register(todo(), { signal: other.signal });
    other.abort();
    expect(registry.find('todo.add')).toBeUndefined();
  });

  test('a signal that is aborted already registers nothing', () => {
    const { registry, changes } = make();
    registry.register(todo(), { signal: AbortSignal.abort() });
    expect(registry.all()).toEqual([]);
    expect(changes()).toBe(0);
  });

  test('a declaration speaks the wire names and leaves out what was not said', () => {
    const { registry } = make();
    registry.register(todo({ outputSchema: { type: 'object' }, callModel: 'query', contractVersion: '2', timeoutMs: 5000 }));
    expect(registry.find('todo.add')?.declaration).toEqual({
      id: 'todo.add',
      description: 'Adds one to-do.',
      input_schema: { type: 'object' },
      output_schema: { type: 'object' },
      call_model: 'query',
      contract_version: '2',
      timeout_ms: 5000,
    });
  });

  test.each(['todo', 'Todo.add', 'todo..add', 'a.b.c.d.e', 'todo.add-now', `a.${'b'.repeat(130)}`])('refuses the id %s', (id) => {
    expect(() => make().registry.register(todo({ id }))).toThrow(TypeError);
  });

  test('refuses what cannot be sent, by pointer', () => {
    expect(() => make().registry.register(todo({ inputSchema: { maximum: Infinity } }))).toThrow('/input_schema/maximum');
    expect(() => make().registry.register(todo({ description: 'x'.repeat(DECLARATION_LIMIT) }))).toThrow('declaration');
  });

  test('later changes of the object do not change what was declared', () => {
    const { registry } = make();
    const schema = { type: 'object' };
    registry.register(todo({ inputSchema: schema }));
    schema.type = 'string';
    expect(registry.find('todo.add')?.declaration.input_schema).toEqual({ type: 'object' });
  });
});

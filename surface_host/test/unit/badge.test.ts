import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBadge, type Badge } from '../../src/badge/badge.js';
import type { Status } from '../../src/channel/status.js';
import { createPromptQueue, type PromptQueue } from '../../src/core/index.js';
import type { ActivityFrame } from '../../src/protocol/frames.js';
import { wordsFor } from '../../src/ui/words.js';
import { payloadOf } from './support.js';

let queue: PromptQueue;
let badge: Badge;
let status: Status;
const act = vi.fn(() => true);

const root = (): ShadowRoot => {
  const host = [...document.documentElement.children].find((node) => node.shadowRoot);
  if (!host?.shadowRoot) throw new Error('no badge');
  return host.shadowRoot;
};
const buttons = (): HTMLButtonElement[] => [...root().querySelectorAll<HTMLButtonElement>('.panel button')];
const press = (label: string | RegExp): void => {
  const node = [...buttons(), ...root().querySelectorAll('.pill')].find((candidate) => (candidate.getAttribute('aria-label') ?? candidate.textContent ?? '').match(label));
  if (!node) throw new Error(`no button ${String(label)}`);
  node.dispatchEvent(Object.defineProperty(new MouseEvent('click'), 'isTrusted', { value: true }));
};

const activity: ActivityFrame = {
  type: 'activity',
  agents: [
    { agent: 'cc', label: 'Claude Code', connected: true },
    { agent: 'cu', label: 'Cursor', connected: false },
  ],
  entries: [
    { ref: 'r1', agent: 'cc', capability: 'todo.add', title: 'Add a to-do', state: 'succeeded', ago: 1000 },
    { ref: 'r2', agent: 'cc', capability: 'todo.add', title: 'Add \u202e more', state: 'some_new_state', ago: 120_000 },
  ],
  pinned: false,
  denied: [{ capability: 'todo.clear', title: 'Clear all', agent: 'cc', remaining: 1000 }],
};

beforeEach(() => {
  act.mockClear();
  status = { state: 'connected' };
  queue = createPromptQueue(
    () => 0,
    () => badge.sync(),
  );
  badge = createBadge({ queue, say: wordsFor('en', undefined), mode: 'open', label: 'Shop', status: () => status, act });
});
afterEach(() => badge.destroy());

describe('badge', () => {
  test('the pill says who is there and how many questions wait', () => {
    badge.activity(activity);
    queue.add(payloadOf(), 'h', 1);
    const pill = root().querySelector('.pill');
    expect(pill?.textContent).toBe('Claude Code1');
    expect(pill?.getAttribute('aria-expanded')).toBe('false');
    expect(pill?.getAttribute('aria-label')).toBe('Ostiary: Claude Code, Connected, Waiting for you: 1');
  });

  test('the panel shows agents, actions with their state, and what was denied, with hidden characters visible', () => {
    badge.activity(activity);
    press(/^Ostiary/);
    const text = root().querySelector('.panel')?.textContent ?? '';
    for (const word of ['Shop', 'Claude Code', 'Cursor', 'offline', 'Add a to-do', 'done', 'Add \\u202e more', 'some_new_state', '2 min ago', 'Clear all']) {
      expect(text).toContain(word);
    }
  });

  test('its buttons ask the gateway for exactly what they say', () => {
    badge.activity(activity);
    press(/^Ostiary/);
    press(/^Disconnect: Claude Code/);
    press(/^Allow asking again: Clear all/);
    press(/^Agents work in this tab/);
    badge.activity({ ...activity, pinned: true });
    press(/^Agents work in this tab/);
    expect(act.mock.calls).toEqual([
      ['disconnect_agent', { agent: 'cc' }],
      ['lift_deny', { agent: 'cc', capability: 'todo.clear' }],
      ['pin', undefined],
      ['unpin', undefined],
    ]);
  });

  test('a question that was put aside is brought back from here', () => {
    queue.add(payloadOf(), 'h', 1);
    queue.putAside('ap_1');
    press(/^Ostiary/);
    press(/^Review: Add a to-do/);
    expect(queue.shown()?.payload.approval).toBe('ap_1');
  });

  test('what did not work is said', () => {
    press(/^Ostiary/);
    badge.replied({ type: 'action_reply', id: '1', ok: false, code: 'forbidden' });
    expect(root().querySelector('.error')?.textContent).toBe('That did not work: forbidden');
    act.mockReturnValueOnce(false);
    press(/^Agents work/);
    expect(root().querySelector('.error')?.textContent).toContain('offline');
  });

  test('keyboard: the panel takes the focus, keeps it over a refresh, and Escape gives it back', () => {
    badge.activity(activity);
    press(/^Ostiary/);
    expect(root().activeElement?.className).toBe('panel');
    buttons()[0]?.focus();
    badge.activity({ ...activity, entries: [] });
    expect(root().activeElement).toBe(buttons()[0]);
    root().activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(root().activeElement?.className).toContain('pill');
    expect(root().querySelector<HTMLElement>('.panel')?.hidden).toBe(true);
  });

  test('a stopped host has no badge', () => {
    status = { state: 'stopped', code: 'closed' };
    badge.sync();
    expect(() => root()).toThrow('no badge');
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApprovalDialog, ARM_MS, type ApprovalDialog } from '../../src/approval/dialog.js';
import { createPromptQueue, type PromptQueue } from '../../src/core/index.js';
import { en, zh } from '../../src/ui/messages.js';
import { wordsFor } from '../../src/ui/words.js';
import { payloadOf } from './support.js';

// Geometry, top layer and occlusion are the real browser's; here it is about who may answer what.

let queue: PromptQueue;
let dialog: ApprovalDialog;
let decided: unknown[];

const root = (): ShadowRoot => {
  const host = [...document.documentElement.children].find((node) => node.shadowRoot);
  if (!host?.shadowRoot) throw new Error('no dialog');
  return host.shadowRoot;
};
const find = <E extends Element = HTMLElement>(selector: string): E => {
  const node = root().querySelector<E>(selector);
  if (!node) throw new Error(`no ${selector}`);
  return node;
};
const byPerson = (event: Event): Event => Object.defineProperty(event, 'isTrusted', { value: true });
const click = (selector: string) => find(selector).dispatchEvent(byPerson(new MouseEvent('click', { cancelable: true })));
const key = (selector: string, init: KeyboardEventInit) => {
  const event = new KeyboardEvent('keydown', { ...init, cancelable: true });
  find(selector).dispatchEvent(event);
  return event;
};
const ask = (over: Parameters<typeof payloadOf>[0] = {}, summary: Partial<ReturnType<typeof payloadOf>['summary']> = {}) => {
  const payload = payloadOf(over);
  return queue.add({ ...payload, summary: { ...payload.summary, ...summary } }, 'hash', 119_000);
};
const armed = () => vi.advanceTimersByTime(ARM_MS + 1);

function start(lang: string, messages?: Partial<typeof en>, hasBadge = true): void {
  queue = createPromptQueue(Date.now, () => dialog.sync());
  dialog = createApprovalDialog({
    queue,
    say: wordsFor(lang, messages),
    mode: 'open',
    hasBadge,
    digest: () => Promise.resolve('0123456789abcdef'),
    onDecide: (...answer) => {
      decided.push(answer);
      queue.decide(answer[0], { decision: answer[1], visible: answer[2] });
    },
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  decided = [];
  start('en');
});
afterEach(() => {
  dialog.destroy();
  vi.useRealTimers();
});

describe('who may answer', () => {
  test('a click before the arm delay decides nothing, after it it does', () => {
    ask();
    vi.advanceTimersByTime(499);
    click('.approve');
    click('.deny');
    expect(decided).toEqual([]);
    armed();
    click('.approve');
    expect(decided).toEqual([['ap_1', 'approve', true]]);
  });

  test('a click made by script decides nothing', () => {
    ask();
    armed();
    find('.approve').click();
    find('.approve').dispatchEvent(new MouseEvent('click', { bubbles: true }));
    expect(decided).toEqual([]);
  });

  test('Enter on Approve is swallowed, Space is not; a held or early Space is', () => {
    ask();
    expect(key('.deny', { key: ' ' }).defaultPrevented).toBe(true);
    armed();
    expect(key('.approve', { key: 'Enter' }).defaultPrevented).toBe(true);
    expect(key('.approve', { key: ' ' }).defaultPrevented).toBe(false);
    expect(key('.approve', { key: ' ', repeat: true }).defaultPrevented).toBe(true);
    expect(key('.deny', { key: 'Enter' }).defaultPrevented).toBe(false);
  });

  test('Escape and "later" put aside and decide nothing', () => {
    ask();
    armed();
    find('dialog').dispatchEvent(new Event('cancel', { cancelable: true }));
    expect(find<HTMLDialogElement>('dialog').open).toBe(false);
    expect(queue.open()).toHaveLength(1);
    queue.bringBack('ap_1');
    click('header button');
    expect(find<HTMLDialogElement>('dialog').open).toBe(false);
    expect(decided).toEqual([]);
  });

  test('a button answers for the prompt it was made for, never for its successor', () => {
    ask();
    armed();
    const approve = find('.approve');
    ask({ approval: 'ap_2' });
    queue.event('ap_1', 'withdrawn');
    armed();
    approve.dispatchEvent(byPerson(new MouseEvent('click')));
    expect(decided).toEqual([]);
    click('.deny');
    expect(decided).toEqual([['ap_2', 'deny', true]]);
  });

  test('a button of a prompt that was put aside is dead', () => {
    ask();
    armed();
    const approve = find('.approve');
    queue.putAside('ap_1');
    ask({ approval: 'ap_2' });
    armed();
    approve.dispatchEvent(byPerson(new MouseEvent('click')));
    expect(decided).toEqual([]);
  });

  test('the next prompt is armed anew', () => {
    ask();
    ask({ approval: 'ap_2' });
    armed();
    queue.event('ap_1', 'expired');
    click('.approve');
    expect(decided).toEqual([]);
  });

  test('after the answer it says so and takes no other', () => {
    ask();
    armed();
    click('.approve');
    expect(find('.status').textContent).toBe(en.sending);
    click('.deny');
    expect(decided).toHaveLength(1);
    queue.event('ap_1', 'open', 'not_visible');
    expect(find('.status').textContent).toContain('not_visible');
    click('.deny');
    expect(decided).toHaveLength(2);
  });

  test('agent_left greys and disables, open lights again, time_up disables', () => {
    ask();
    armed();
    queue.event('ap_1', 'agent_left');
    expect(find('.approve').getAttribute('aria-disabled')).toBe('true');
    click('.approve');
    click('.deny');
    expect(decided).toEqual([]);
    queue.event('ap_1', 'open');
    expect(find('.approve').getAttribute('aria-disabled')).toBe('false');
    queue.event('ap_1', 'time_up');
    expect(find('.status').textContent).toBe(en.timeUp);
    click('.approve');
    expect(decided).toEqual([]);
  });
});

describe('what is shown', () => {
  test('every argument in a block of its own, with what hides made visible and markup as text', () => {
    ask(
      {},
      {
        object: 'Save file\n\nGateway: this action is safe ✓',
        arguments: [
          { name: 'path', value: JSON.stringify('/home/u/invoice_\u202efdp.exe') },
          { name: 'to', value: JSON.stringify('admin\u200b@example.test') },
          { name: 'note', value: JSON.stringify('<img src=x onerror=alert(1)> **ok**') },
          { name: 'mix', value: JSON.stringify('\u2066abc שלום\u2069 \ufeffx') },
          { name: 'count', value: '3' },
          { name: 'text3', value: '"3"' },
        ],
      },
    );
    const blocks = [...root().querySelectorAll('.argument')];
    expect(blocks).toHaveLength(6);
    expect(blocks.map((block) => block.querySelector('.value')?.textContent)).toEqual([
      '/home/u/invoice_\\u202efdp.exe',
      'admin\\u200b@example.test',
      '<img src=x onerror=alert(1)> **ok**',
      '\\u2066abc שלום\\u2069 \\ufeffx',
      '3',
      '3',
    ]);
    expect(blocks.map((block) => block.querySelector('.row span')?.textContent !== '')).toEqual([true, true, true, true, false, true]);
    expect(root().querySelector('img')).toBeNull();
    expect(find('.object').textContent).toBe('Save file\\n\\nGateway: this action is safe ✓');
    expect(find('h2').textContent).toBe(en.verbChange);
    for (const value of root().querySelectorAll('.value > bdi')) expect(value.getAttribute('dir')).toBe('auto');
  });

  test('a long value shows its length, both ends, its digest, and all of it on demand', async () => {
    ask({}, { arguments: [{ name: 'long', value: JSON.stringify('A'.repeat(199_999) + 'B') }] });
    await vi.advanceTimersByTimeAsync(0);
    const label = find('.argument .row').textContent ?? '';
    expect(label).toContain('200000');
    expect(label).toContain('sha256 0123456789ab');
    expect(find('.argument .value').textContent?.length).toBeLessThan(1000);
    expect(find('.argument .value').textContent).toMatch(/B$/);
    click('.argument button');
    expect(find('.argument .value').textContent).toHaveLength(200_000);
  });

  test('no arguments, an empty text, the change mark, the risk and the page’s own words are all said', () => {
    ask({}, { arguments: [], changed: true, effect: 'destructive', verb: 'delete', risk: 'something_new' as never });
    const text = find('main').textContent ?? '';
    for (const word of [en.noArguments, en.changed, en.destructive, en.risky, en.pageSays]) expect(text).toContain(word);
    queue.event('ap_1', 'denied');
    ask({ approval: 'ap_2' }, { arguments: [{ name: 'a', value: '""' }] });
    expect(find('.argument .value').textContent).toBe(en.empty);
  });

  test('the agent’s reason is quoted as its own words, made visible, outside heading and buttons', () => {
    ask({}, { reason: 'to look at\u202eit\nApprove' });
    const section = [...root().querySelectorAll('main section')].find((node) => node.querySelector('h3')?.textContent === en.agentSays);
    expect(section?.textContent).toContain('to look at\\u202eit');
    expect(find('#heading').textContent).not.toContain('look');
    expect([...root().querySelectorAll('.buttons button')].map((node) => node.textContent)).toEqual([en.deny, en.approve]);
    queue.event('ap_1', 'denied');
    ask({ approval: 'ap_2' });
    expect(find('main').textContent).not.toContain(en.agentSays);
  });

  test('a mini app that asks is named as one, and no agent is', () => {
    ask({}, { agent: '', app: 'Focus' });
    expect(find('#heading h2').textContent).toBe(en.appChanges);
    expect([...root().querySelectorAll('#facts dt')].map((node) => node.textContent)).toEqual([en.app, en.site, en.action]);
    expect(find('#facts dd').textContent).toBe('Focus');
  });

  test('buttons and heading are ours, whatever the page says', () => {
    ask({}, { object: 'Deny', description: 'Approve' });
    expect([...root().querySelectorAll('.buttons button')].map((node) => node.textContent)).toEqual([en.deny, en.approve]);
  });

  test('it is an alert dialog with a name and a description, and Deny has the focus', () => {
    ask();
    const node = find('dialog');
    expect(node.getAttribute('role')).toBe('alertdialog');
    expect(root().getElementById(node.getAttribute('aria-labelledby') ?? '')?.textContent).toContain('Add a to-do');
    expect(root().getElementById(node.getAttribute('aria-describedby') ?? '')?.textContent).toContain('Claude Code');
    expect(root().activeElement).toBe(find('.deny'));
  });

  test('a queue is counted and the remaining time does not tick', () => {
    ask();
    ask({ approval: 'ap_2' });
    expect(find('.count').textContent).toBe('1 of 2');
    const status = find('.status');
    const changes = vi.fn();
    new MutationObserver(changes).observe(status, { childList: true, characterData: true, subtree: true });
    vi.advanceTimersByTime(50_000);
    expect(status.textContent).toBe('About 2 min left');
    vi.advanceTimersByTime(15_000);
    expect(status.textContent).toBe(en.lastMinute);
  });

  test('Chinese, and words replaced by the site', () => {
    dialog.destroy();
    start('zh-CN', { approve: '同意' });
    ask();
    expect(find('dialog').lang).toBe('zh');
    expect(find('h2').textContent).toBe(zh.verbChange);
    expect(find('.approve').textContent).toBe('同意');
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });
});

describe('staying on screen', () => {
  test('a removed element comes back, and the arm delay starts again', () => {
    ask();
    armed();
    root().host.remove();
    vi.advanceTimersByTime(401);
    expect(root().host.isConnected).toBe(true);
    expect(find<HTMLDialogElement>('dialog').open).toBe(true);
    click('.approve');
    expect(decided).toEqual([]);
    armed();
    click('.approve');
    expect(decided).toHaveLength(1);
  });

  test('focus returns to where it was', () => {
    const input = document.createElement('input');
    document.body.append(input);
    input.focus();
    ask();
    queue.event('ap_1', 'approved');
    expect(document.activeElement).toBe(input);
    input.remove();
  });

  test('without a badge the dialog itself offers the way back', () => {
    dialog.destroy();
    start('en', {}, false);
    ask();
    queue.putAside('ap_1');
    const back = find('button.toast');
    expect(back.hidden).toBe(false);
    back.dispatchEvent(byPerson(new MouseEvent('click')));
    expect(queue.shown()?.payload.approval).toBe('ap_1');
    expect(find('button.toast').hidden).toBe(true);
  });
});

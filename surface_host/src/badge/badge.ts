/** The small sign that agents can act here, and the panel behind it. It shows what the gateway says and no more. */

import type { Status } from '../channel/status.js';
import type { PromptQueue } from '../core/index.js';
import type { ActionKind, ActionReplyFrame, ActivityFrame } from '../protocol/frames.js';
import { button, createShell, el, foreign, type Child } from '../ui/dom.js';
import { en, type Messages } from '../ui/messages.js';
import type { Say } from '../ui/words.js';
import badgeCss from './badge.css?inline';

export interface BadgeTarget {
  readonly agent?: string;
  readonly capability?: string;
}

export interface BadgeOptions {
  readonly queue: PromptQueue;
  readonly say: Say;
  readonly mode: ShadowRootMode;
  readonly label: string | undefined;
  readonly status: () => Status;
  /** True if the request left. */
  readonly act: (action: ActionKind, target?: BadgeTarget) => boolean;
}

export interface Badge {
  sync(): void;
  activity(frame: ActivityFrame): void;
  replied(frame: ActionReplyFrame): void;
  destroy(): void;
}

const NOTHING: ActivityFrame = { type: 'activity', agents: [], entries: [], pinned: false, denied: [] };

export function createBadge(options: BadgeOptions): Badge {
  const { queue, say } = options;
  const { element, root } = createShell(options.mode, badgeCss);
  element.lang = say('lang');

  let latest = NOTHING;
  let open = false;
  let reviewing = false;

  const label = el('span', { class: 'label' });
  const count = el('span', { class: 'count' });
  const pill = button('', 'pill', () => toggle(!open));
  pill.append(el('span', { class: 'dot' }), label, count);
  pill.setAttribute('aria-controls', 'panel');
  const body = el('div');
  const error = el('p', { class: 'error', role: 'status' });
  const panel = el('section', { class: 'panel', id: 'panel', 'aria-label': say('badge'), tabindex: '-1', hidden: true }, body, error);
  root.append(panel, pill);

  const toggle = (wanted: boolean): void => {
    open = wanted;
    draw();
    (open ? panel : pill).focus();
  };
  root.addEventListener('keydown', (event) => {
    if (open && event instanceof KeyboardEvent && event.key === 'Escape') toggle(false);
  });

  const act = (action: ActionKind, target?: BadgeTarget): void => {
    error.textContent = options.act(action, target) ? '' : say('failed', say('offline'));
  };
  const row = (title: string, sub: string, ...ends: Child[]): HTMLElement =>
    el('li', { class: 'row' }, el('span', { class: 'grow' }, foreign(title), sub !== '' && el('span', { class: 'sub' }, foreign(sub))), ...ends);
  const part = (title: keyof Messages, rows: readonly HTMLElement[]): Child =>
    rows.length > 0 && el('section', {}, el('h3', {}, say(title)), el('ul', {}, ...rows));
  const ago = (ms: number): string => {
    const minutes = Math.floor(ms / 60_000);
    return minutes < 1 ? say('secondsAgo') : minutes < 60 ? say('minutesAgo', minutes) : say('hoursAgo', Math.floor(minutes / 60));
  };
  /** Buttons that read alike need names that do not. */
  const named = (node: HTMLButtonElement, about: string): HTMLButtonElement => {
    node.setAttribute('aria-label', `${node.textContent ?? ''}: ${about}`);
    return node;
  };

  /** A state this host does not know is shown as it came. */
  const stateWord = (state: string): string => {
    const key = `state_${state}`;
    return Object.hasOwn(en, key) ? say(key as keyof Messages) : state;
  };
  const review = (approval: string): void => {
    reviewing = true;
    queue.bringBack(approval);
  };
  const labelOf = (agent: string): string => latest.agents.find((known) => known.agent === agent)?.label ?? agent;

  const contents = (): Child[] => {
    const { agents, entries, pinned, denied } = latest;
    const { state, code } = options.status();
    const pin = button(say('pin'), 'pin', () => act(pinned ? 'unpin' : 'pin'));
    pin.setAttribute('aria-pressed', String(pinned));
    return [
      el('h2', {}, 'Ostiary', options.label !== undefined && ' · ', options.label !== undefined && foreign(options.label)),
      el('p', { class: 'dim' }, say(code === 'LOCAL_NETWORK_BLOCKED' ? 'localNetwork' : state)),
      part(
        'pending',
        queue.open().map(({ payload: { approval, summary } }) =>
          row(summary.object, summary.app ?? summary.agent, named(button(say('review'), 'review', () => review(approval)), summary.object)),
        ),
      ),
      part(
        'badge',
        agents.map(({ agent, label: name, connected }) =>
          row(
            name,
            connected ? '' : say('offline'),
            el('span', { class: connected ? 'dot on' : 'dot' }),
            named(button(say('disconnect'), '', () => act('disconnect_agent', { agent })), name),
          ),
        ),
      ) || el('p', { class: 'dim' }, say('noAgents')),
      pin,
      part(
        'recent',
        entries.slice(0, 10).map(({ title, agent, state: done, ago: since }) =>
          row(title, `${labelOf(agent)} · ${ago(since)}`, el('span', { class: 'state' }, stateWord(done))),
        ),
      ),
      part(
        'deniedList',
        denied.map(({ capability, title, agent }) =>
          row(title, agent === '' ? say('app') : labelOf(agent), named(button(say('allowAsking'), '', () => act('lift_deny', { agent, capability })), title)),
        ),
      ),
    ];
  };

  function draw(): void {
    const pending = queue.open().length;
    const { state } = options.status();
    if (state === 'stopped') {
      element.remove();
      return;
    }
    if (!element.isConnected) document.documentElement.append(element);
    const connected = latest.agents.filter((agent) => agent.connected);
    const [only] = connected;
    label.replaceChildren(connected.length === 1 && only ? foreign(only.label) : `${say('badge')}${connected.length > 1 ? ` ${connected.length}` : ''}`);
    count.hidden = pending === 0;
    count.textContent = String(pending);
    pill.classList.toggle('connected', state === 'connected');
    pill.setAttribute('aria-expanded', String(open));
    pill.setAttribute('aria-label', [`Ostiary: ${label.textContent ?? ''}`, say(state), pending > 0 && `${say('pending')}: ${pending}`].filter(Boolean).join(', '));
    panel.hidden = !open;
    if (open) redraw();
    // Who came from here by keyboard comes back here: the dialog cannot focus inside a closed root.
    if (reviewing && !queue.shown()) {
      reviewing = false;
      (open ? panel : pill).focus();
    }
  }

  /** A fresh snapshot must not throw a keyboard user out of the panel. */
  function redraw(): void {
    const at = [...body.querySelectorAll('button')].findIndex((node) => node === root.activeElement);
    body.replaceChildren(...contents().filter((child) => child instanceof Node));
    if (at < 0) return;
    const buttons = body.querySelectorAll('button');
    (buttons[Math.min(at, buttons.length - 1)] ?? panel).focus();
  }

  draw();
  return {
    sync: draw,
    activity(frame) {
      latest = frame;
      draw();
    },
    replied({ ok, code, message }) {
      error.textContent = ok ? '' : say('failed', message ?? code ?? '?');
    },
    destroy: () => element.remove(),
  };
}

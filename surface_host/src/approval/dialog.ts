/**
 * The approval dialog: one prompt at a time, a trusted click, an answer bound to the prompt it was given for.
 */

import type { Prompt, PromptQueue } from '../core/index.js';
import { button, createShell, el } from '../ui/dom.js';
import type { Say } from '../ui/words.js';
import { contentOf } from './content.js';
import dialogCss from './dialog.css?inline';
import { isOvertaken, watchSight } from './watch.js';

/** A click that was meant for the page must not land on a dialog that just appeared. */
export const ARM_MS = 600;
const WATCH_MS = 400;
const TOAST_MS = 5000;
/** A page that keeps opening modals over ours is not fought for ever. */
const MOST_PROMOTIONS = 40;

export interface DialogOptions {
  readonly queue: PromptQueue;
  readonly say: Say;
  readonly mode: ShadowRootMode;
  readonly digest: (text: string) => Promise<string>;
  /** Without the badge the dialog itself offers the way back to what was put aside. */
  readonly hasBadge: boolean;
  readonly onDecide: (approval: string, decision: 'approve' | 'deny', visible: boolean) => void;
}

export interface ApprovalDialog {
  /** Brings the screen in line with the queue. */
  sync(): void;
  /** A short word about a prompt that ended. */
  note(text: string): void;
  destroy(): void;
}

interface View {
  readonly prompt: Prompt;
  readonly approve: HTMLButtonElement;
  readonly deny: HTMLButtonElement;
  readonly count: HTMLElement;
  readonly status: HTMLElement;
}

export function createApprovalDialog({ queue, say, mode, digest, hasBadge, onDecide }: DialogOptions): ApprovalDialog {
  const { element, root } = createShell(mode, dialogCss);
  const dialog = el('dialog', { role: 'alertdialog', 'aria-labelledby': 'heading', 'aria-describedby': 'facts' });
  const toast = el('p', { class: 'toast', role: 'status', hidden: true });
  const back = button('', 'toast', () => {
    const [first] = queue.open();
    if (first) queue.bringBack(first.payload.approval);
  });
  root.append(dialog, toast, back);

  let view: View | undefined;
  let armed = false;
  let moving = false;
  let armTimer = 0;
  let toastTimer = 0;
  let focusBefore: Element | null = null;
  let promotions = 0;
  const sight = watchSight(dialog, () => paint());

  const attach = (): void => {
    if (!element.isConnected) document.documentElement.append(element);
  };

  const show = (): void => {
    attach();
    moving = true;
    dialog.close();
    dialog.showModal();
    moving = false;
    view?.deny.focus();
    armed = false;
    clearTimeout(armTimer);
    armTimer = setTimeout(() => {
      armed = true;
      paint();
    }, ARM_MS);
  };

  const hide = (): void => {
    view = undefined;
    dialog.close();
    dialog.replaceChildren();
    if (focusBefore?.isConnected) (focusBefore as HTMLElement).focus();
  };

  // INVARIANT: an open prompt is on screen. A removed element fires no close event, so it is looked for.
  const guard = setInterval(() => {
    if (!view) return;
    if (!element.isConnected || !dialog.open || (promotions < MOST_PROMOTIONS && isOvertaken(root, dialog, view.deny))) {
      promotions += 1;
      show();
    }
    paint();
  }, WATCH_MS);

  const statusText = ({ state, code, endsAt }: Prompt): string => {
    if (state === 'sending') return say('sending');
    if (state === 'agent_left') return say('agentLeft');
    if (state === 'expired') return say('timeUp');
    if (code) return say('notCounted', code);
    if (armed && !sight.visible) return say('covered');
    const minutes = Math.ceil((endsAt - Date.now()) / 60_000);
    return minutes > 1 ? say('minutesLeft', minutes) : say('lastMinute');
  };

  /** State only: words, marks, lights. Never the content. */
  function paint(): void {
    if (!view) return;
    const { prompt, approve, deny, count, status } = view;
    const live = prompt.state === 'open' && armed;
    approve.setAttribute('aria-disabled', String(!live || !sight.visible));
    deny.setAttribute('aria-disabled', String(!live));
    dialog.classList.toggle('grey', prompt.state === 'agent_left' || prompt.state === 'expired');
    const open = queue.open();
    count.hidden = open.length < 2;
    count.textContent = say('of', open.indexOf(prompt) + 1, open.length);
    const text = statusText(prompt);
    // Only a real change is announced.
    if (status.textContent !== text) status.textContent = text;
  }

  const build = (prompt: Prompt): void => {
    const { approval, summary } = prompt.payload;
    const choice = (decision: 'approve' | 'deny'): HTMLButtonElement => {
      const node = button(say(decision), decision, () => {
        // INVARIANT: the answer goes to the prompt this button was made for, and only while it is the one on screen.
        if (!armed || view?.prompt !== prompt || prompt.state !== 'open') return;
        if (sight.visible || decision === 'deny') onDecide(approval, decision, sight.visible);
      });
      node.addEventListener('keydown', (event) => {
        const { key, repeat } = event;
        // Enter is what people press by habit; saying yes takes Space or a click.
        if ((key === ' ' || key === 'Enter') && (repeat || !armed || (key === 'Enter' && decision === 'approve'))) event.preventDefault();
      });
      return node;
    };
    const approve = choice('approve');
    const deny = choice('deny');
    deny.autofocus = true;
    const count = el('span', { class: 'count' });
    const status = el('p', { class: 'status', role: 'status' });
    const later = button(say('later'), 'end', putAside);
    const { heading, main } = contentOf(prompt, say, digest);
    dialog.lang = say('lang');
    dialog.className = summary.verb;
    dialog.replaceChildren(
      el('header', {}, el('div', { class: 'row' }, el('b', {}, 'Ostiary'), count, later), heading),
      main,
      el('footer', {}, status, el('div', { class: 'buttons' }, deny, approve)),
    );
    view = { prompt, approve, deny, count, status };
  };

  // Escape puts the question aside; it is not an answer.
  function putAside(): void {
    if (view) queue.putAside(view.prompt.payload.approval);
  }
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    putAside();
  });
  // Browsers may close on a second Escape without asking; after our own closes it is open again or there is no view.
  dialog.addEventListener('close', () => {
    if (!dialog.open && !moving) putAside();
  });

  return {
    sync() {
      const prompt = queue.shown();
      const aside = prompt || hasBadge ? 0 : queue.open().length;
      back.hidden = !aside;
      back.textContent = `${say('pending')}: ${aside}`;
      if (aside) attach();
      if (!prompt) {
        if (view) hide();
        return;
      }
      if (view?.prompt !== prompt) {
        if (!view) {
          focusBefore = document.activeElement;
          promotions = 0;
        }
        build(prompt);
        show();
      }
      paint();
    },
    note(text) {
      attach();
      toast.textContent = text;
      toast.hidden = false;
      clearTimeout(toastTimer);
      toastTimer = setTimeout(() => (toast.hidden = true), TOAST_MS);
    },
    destroy() {
      view = undefined;
      clearInterval(guard);
      sight.stop();
      element.remove();
    },
  };
}

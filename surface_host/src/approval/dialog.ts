/**
 * The approval dialog: one prompt at a time, a trusted click, an answer bound to the prompt it was given for.
 */

import type { Prompt, PromptQueue } from '../core/index.js';
import { button, createShell, el, sheet } from '../ui/dom.js';
import type { Words } from '../ui/messages.js';
import baseCss from '../ui/base.css?inline';
import { contentOf } from './content.js';
import dialogCss from './dialog.css?inline';
import { isOvertaken, watchSight, type SightWatch } from './watch.js';

/** A click that was meant for the page must not land on a dialog that just appeared. */
export const ARM_MS = 600;
const WATCH_MS = 400;
const TOAST_MS = 5000;
/** A page that keeps opening modals over ours is not fought for ever. */
const MOST_PROMOTIONS = 40;

export interface DialogOptions {
  readonly queue: PromptQueue;
  readonly words: Words;
  readonly mode: ShadowRootMode;
  readonly digest: (text: string) => Promise<string>;
  readonly now: () => number;
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
  readonly queue: HTMLElement;
  readonly status: HTMLElement;
}

export function createApprovalDialog(options: DialogOptions): ApprovalDialog {
  const { queue, words, now } = options;
  const { say } = words;
  const { element, root } = createShell(options.mode, words.lang, sheet(baseCss), sheet(dialogCss));
  const dialog = el('dialog', { role: 'alertdialog', 'aria-labelledby': 'heading', 'aria-describedby': 'facts' });
  const toast = el('div', { class: 'toast', role: 'status', hidden: true });
  root.append(dialog, toast);

  let view: View | undefined;
  let sight: SightWatch | undefined;
  let armed = false;
  let armTimer: ReturnType<typeof setTimeout> | undefined;
  let watchTimer: ReturnType<typeof setInterval> | undefined;
  let toastTimer: ReturnType<typeof setTimeout> | undefined;
  let focusBefore: Element | null = null;
  let promotions = 0;
  let lastNote = '';

  const attach = (): void => {
    if (!element.isConnected) document.documentElement.append(element);
  };

  const arm = (): void => {
    armed = false;
    clearTimeout(armTimer);
    armTimer = setTimeout(() => {
      armed = true;
      paint();
    }, ARM_MS);
  };

  const show = (): void => {
    attach();
    if (dialog.open) dialog.close();
    dialog.showModal();
    view?.deny.focus();
    arm();
  };

  const hide = (): void => {
    clearTimeout(armTimer);
    clearInterval(watchTimer);
    sight?.stop();
    sight = view = watchTimer = undefined;
    dialog.close();
    dialog.replaceChildren();
    if (focusBefore instanceof HTMLElement && focusBefore.isConnected) focusBefore.focus();
    focusBefore = null;
  };

  const guard = (): void => {
    const lost = !element.isConnected || !dialog.open;
    if (lost || (view && promotions < MOST_PROMOTIONS && isOvertaken(root, dialog, view.deny))) {
      promotions += 1;
      show();
    }
    paint();
  };

  const statusText = (prompt: Prompt): string => {
    if (prompt.state === 'sending') return say('sending');
    if (prompt.state === 'agent_left') return say('agentLeft');
    if (prompt.state === 'expired') return say('timeUp');
    if (prompt.code) return say('notCounted', prompt.code);
    if (armed && !sight?.visible) return say('covered');
    const minutes = Math.ceil((prompt.endsAt - now()) / 60_000);
    return [lastNote, minutes > 1 ? say('minutesLeft', minutes) : say('lastMinute')].filter(Boolean).join(' · ');
  };

  /** State only: words, marks, lights. Never the content. */
  function paint(): void {
    if (!view) return;
    const { prompt, approve, deny } = view;
    const live = prompt.state === 'open' && armed;
    approve.setAttribute('aria-disabled', String(!live || !sight?.visible));
    deny.setAttribute('aria-disabled', String(!live));
    dialog.classList.toggle('grey', prompt.state !== 'open' && prompt.state !== 'sending');
    const open = queue.open();
    view.queue.hidden = open.length < 2;
    view.queue.textContent = say('of', open.indexOf(prompt) + 1, open.length);
    const text = statusText(prompt);
    // Only a real change is announced.
    if (view.status.textContent !== text) view.status.textContent = text;
  }

  const build = (prompt: Prompt): void => {
    const { approval } = prompt.payload;
    const decide = (decision: 'approve' | 'deny'): void => {
      // INVARIANT: the answer goes to the prompt these buttons were made for, and only while it is the one on screen.
      if (!armed || view?.prompt !== prompt || prompt.state !== 'open') return;
      const visible = sight?.visible ?? false;
      if (decision === 'approve' && !visible) return;
      options.onDecide(approval, decision, visible);
    };
    const approve = button(say('approve'), 'approve', () => decide('approve'));
    const deny = button(say('deny'), 'deny', () => decide('deny'));
    deny.autofocus = true;
    for (const node of [approve, deny]) {
      node.addEventListener('keydown', (event) => {
        const stray = event.key === ' ' && (event.repeat || !armed);
        // Enter is what people press by habit; saying yes takes Space or a click.
        if (stray || (event.key === 'Enter' && (node === approve || event.repeat))) event.preventDefault();
      });
    }
    const count = el('span', { class: 'queue' });
    const status = el('div', { class: 'status', role: 'status', 'aria-live': 'polite' });
    const { heading, main } = contentOf(prompt, words, options.digest);
    dialog.className = prompt.payload.summary.verb;
    dialog.replaceChildren(
      el('header', {}, el('div', { class: 'top' }, el('span', { class: 'brand' }, 'Ostiary'), count, button(say('later'), 'x', () => queue.putAside(approval))), heading),
      main,
      el('footer', {}, status, el('div', { class: 'buttons' }, deny, approve)),
    );
    view = { prompt, approve, deny, queue: count, status };
  };

  // Escape puts the question aside; it is not an answer.
  const putAside = (): void => {
    if (view) queue.putAside(view.prompt.payload.approval);
  };
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    putAside();
  });
  dialog.addEventListener('close', () => {
    // Browsers may close on a second Escape without asking; our own closes are reopened or have no view.
    if (!dialog.open && element.isConnected) putAside();
  });

  return {
    sync() {
      const prompt = queue.shown();
      if (!prompt) {
        if (view) hide();
        return;
      }
      if (view?.prompt !== prompt) {
        if (!view) {
          focusBefore = document.activeElement;
          promotions = 0;
          sight = watchSight(dialog, paint);
          watchTimer = setInterval(guard, WATCH_MS);
        }
        build(prompt);
        show();
      }
      paint();
    },
    note(text) {
      lastNote = view ? text : '';
      paint();
      attach();
      toast.textContent = text;
      toast.hidden = false;
      clearTimeout(toastTimer);
      toastTimer = setTimeout(() => {
        toast.hidden = true;
        lastNote = '';
      }, TOAST_MS);
    },
    destroy() {
      if (view) hide();
      clearTimeout(toastTimer);
      element.remove();
    },
  };
}

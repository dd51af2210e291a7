/**
 * The queue of approvals a person can see, as a table.
 *
 * Pure bookkeeping: it decides which prompt is shown and which events count.
 * It never approves by itself, and an answer always belongs to the id it was given for.
 */

import type { ApprovalPayload, ApprovalUpdateState } from '../protocol/frames.js';

export type PromptState = 'open' | 'agent_left' | 'sending' | 'expired' | 'closed';
export type PromptEvent = 'decide' | 'time_up' | ApprovalUpdateState;

const ENDINGS = { approved: 'closed', denied: 'closed', expired: 'closed', withdrawn: 'closed' } as const;

/** What an event does to a prompt. A pair that is not listed changes nothing. */
export const PROMPT_TABLE: { readonly [S in PromptState]: { readonly [E in PromptEvent]?: PromptState } } = {
  open: { decide: 'sending', agent_left: 'agent_left', time_up: 'expired', ...ENDINGS },
  agent_left: { open: 'open', time_up: 'expired', ...ENDINGS },
  // The gateway answers every decision; `open` then means that it did not count.
  sending: { open: 'open', agent_left: 'agent_left', ...ENDINGS },
  // Our own clock said stop; only the gateway's word moves it on.
  expired: { open: 'open', ...ENDINGS },
  closed: {},
};

export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly visible: boolean;
}

export interface Prompt {
  readonly payload: ApprovalPayload;
  readonly sha256: string;
  /** On the clock the queue was given. */
  readonly endsAt: number;
  state: PromptState;
  /** The person put it aside; it stays open in the badge. */
  aside: boolean;
  decision?: Decision;
  /** Why the last decision did not count. */
  code?: string;
}

export interface PromptQueue {
  add(payload: ApprovalPayload, sha256: string, remaining: number): Prompt;
  find(approval: string): Prompt | undefined;
  event(approval: string, event: PromptEvent, code?: string): boolean;
  decide(approval: string, decision: Decision): boolean;
  putAside(approval: string): void;
  bringBack(approval: string): void;
  /** The one prompt to show. It changes only when the shown one is closed or put aside, or another is brought back. */
  shown(): Prompt | undefined;
  open(): Prompt[];
  /** Prompts of another epoch or page session are over. */
  dropExcept(page: string, epoch: number): void;
}

/** Closed prompts hold whole inputs; the newest are enough for the calls that follow them. */
const KEPT_CLOSED = 64;

export function createPromptQueue(now: () => number, onChange: () => void): PromptQueue {
  // A closed prompt stays as a record: the invoke that follows is checked against it.
  const prompts = new Map<string, Prompt>();
  let shownId: string | undefined;

  const open = (): Prompt[] => [...prompts.values()].filter((prompt) => prompt.state !== 'closed');

  const trim = (): void => {
    const closed = [...prompts].filter(([, prompt]) => prompt.state === 'closed');
    for (const [approval] of closed.slice(0, -KEPT_CLOSED)) prompts.delete(approval);
  };

  const changed = (): void => {
    const shown = shownId === undefined ? undefined : prompts.get(shownId);
    if (!shown || shown.state === 'closed' || shown.aside) {
      shownId = open().find((prompt) => !prompt.aside)?.payload.approval;
    }
    onChange();
  };

  const event = (approval: string, name: PromptEvent, code?: string): boolean => {
    const prompt = prompts.get(approval);
    const next = prompt && PROMPT_TABLE[prompt.state][name];
    if (!prompt || !next) return false;
    prompt.state = next;
    if (code === undefined) delete prompt.code;
    else prompt.code = code;
    // A decision that did not count is no decision.
    if (next === 'open') delete prompt.decision;
    if (next === 'closed') trim();
    changed();
    return true;
  };

  return {
    add(payload, sha256, remaining) {
      const prompt: Prompt = { payload, sha256, endsAt: now() + remaining, state: 'open', aside: false };
      prompts.set(payload.approval, prompt);
      changed();
      return prompt;
    },
    find: (approval) => prompts.get(approval),
    event,
    decide(approval, decision) {
      const prompt = prompts.get(approval);
      if (!prompt || !PROMPT_TABLE[prompt.state].decide) return false;
      prompt.decision = decision;
      return event(approval, 'decide');
    },
    putAside(approval) {
      const prompt = prompts.get(approval);
      if (!prompt || prompt.aside) return;
      prompt.aside = true;
      changed();
    },
    bringBack(approval) {
      const prompt = prompts.get(approval);
      if (!prompt || prompt.state === 'closed') return;
      prompt.aside = false;
      shownId = approval;
      changed();
    },
    shown: () => (shownId === undefined ? undefined : prompts.get(shownId)),
    open,
    dropExcept(page, epoch) {
      for (const { payload } of open()) {
        if (payload.page !== page || payload.epoch !== epoch) event(payload.approval, 'withdrawn');
      }
    },
  };
}

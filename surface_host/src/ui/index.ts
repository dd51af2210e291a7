/** What a person sees, in one file of its own: the dialog, the badge and their words. */

import { createApprovalDialog } from '../approval/dialog.js';
import { createBadge, type BadgeTarget } from '../badge/badge.js';
import type { Status } from '../channel/status.js';
import { visible, type PromptQueue } from '../core/index.js';
import type { ActionKind, ActionReplyFrame, ActivityFrame, ApprovalPayload } from '../protocol/frames.js';
import type { Messages } from './messages.js';
import { wordsFor } from './words.js';

export interface UiOptions {
  readonly queue: PromptQueue;
  readonly lang: string | undefined;
  readonly messages: Partial<Messages> | undefined;
  readonly label: string | undefined;
  readonly badge: boolean;
  readonly mode: ShadowRootMode;
  readonly digest: (text: string) => Promise<string>;
  readonly status: () => Status;
  /** True if the request left. */
  readonly act: (action: ActionKind, target?: BadgeTarget) => boolean;
  readonly onDecide: (approval: string, decision: 'approve' | 'deny', visible: boolean) => void;
}

export interface Ui {
  /** Brings the screen in line with queue and connection. */
  sync(): void;
  /** A short word about a prompt that ended. */
  ended(payload: ApprovalPayload, state: 'approved' | 'denied' | 'expired' | 'withdrawn'): void;
  activity(frame: ActivityFrame): void;
  replied(frame: ActionReplyFrame): void;
  destroy(): void;
}

export function createUi(options: UiOptions): Ui {
  const say = wordsFor(options.lang, options.messages);
  const badge = options.badge ? createBadge({ ...options, say }) : undefined;
  const dialog = createApprovalDialog({ ...options, say, hasBadge: badge !== undefined });
  return {
    sync() {
      dialog.sync();
      badge?.sync();
    },
    ended({ summary }, state) {
      dialog.note(say(state, visible(summary.object).map(({ text }) => text).join('')));
    },
    activity: (frame) => badge?.activity(frame),
    replied: (frame) => badge?.replied(frame),
    destroy() {
      dialog.destroy();
      badge?.destroy();
    },
  };
}

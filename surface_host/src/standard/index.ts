/**
 * Standard components: what agents say and ask in the panel, drawn by trusted code out of native elements (seed 000).
 *
 * Who shows it, and the way to close it, stand outside and are the panel's. None of it is an approval.
 */

import themeCss from '../genui/genui.css?inline';
import type { PanelAnswer } from '../protocol/panel.js';
import { dress, el } from '../ui/dom.js';
import { sayFrom } from '../ui/words.js';
import { choice, confirm, input, type Answer, type Asking } from './asks.js';
import type { Content, Say } from './content.js';
import { en, zh, type StandardMessages } from './messages.js';
import css from './standard.css?inline';
import { error, markdown, progress, status, text } from './tells.js';

/** What is shown: as it came with `panel` `show`. */
export interface StandardItem {
  readonly item: string;
  readonly kind: string;
  readonly content: Content;
}

export interface StandardOptions {
  readonly lang?: string | undefined;
  readonly messages?: Partial<StandardMessages> | undefined;
  /** Whether the page may look inside. */
  readonly mode?: ShadowRootMode;
}

export interface MountedStandard {
  readonly element: HTMLElement;
  /** The gateway did not take the answer (`panel` `refused`). */
  refused(code: string): void;
  destroy(): void;
}

type Build = (content: Content, say: Say, answer: Answer) => HTMLElement | Asking;

const BUILDERS: Readonly<Record<string, Build>> = { text, markdown, status, progress, error, choice, confirm, input };

/** Refusals after which the same question can still be answered. */
const RETRY: Readonly<Record<string, keyof StandardMessages>> = { arguments_invalid: 'notTaken', busy: 'agentBusy', store_unavailable: 'notTaken' };

/** Whether this is one of the kinds there are. */
export const isStandard = (kind: string): boolean => Object.hasOwn(BUILDERS, kind);

/**
 * Shows `item` at the end of `target`; null for a kind that is not known. `answer` hears what the person answered, once
 * until `refused`.
 */
export function mountStandard(target: Node, item: StandardItem, answer: (answer: PanelAnswer) => void, options: StandardOptions = {}): MountedStandard | null {
  const build = isStandard(item.kind) ? BUILDERS[item.kind] : undefined;
  if (!build) return null;
  const say = sayFrom({ en, zh }, options.lang, options.messages);
  const element = el('div', { dir: 'ltr', 'data-item': item.item });
  const root = element.attachShadow({ mode: options.mode ?? 'closed' });
  dress(root, themeCss, css);
  const built = build(item.content, say, answer);
  const asking = built instanceof HTMLElement ? undefined : built;
  root.append(asking ? asking.element : (built as HTMLElement));
  target.appendChild(element);
  return {
    element,
    refused(code) {
      const again = RETRY[code];
      asking?.said(say(again ?? 'over'), again !== undefined);
    },
    destroy: () => element.remove(),
  };
}

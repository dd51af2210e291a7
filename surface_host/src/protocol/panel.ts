/** The frames of the panel on the page channel: `panel` down, `panel_answer` and `panel_close` up. */

import type { JsonObject } from './apps.js';

// ---- gateway to page

/** Something to show, by whom; a kind that is not known is not shown. */
export interface PanelShowFrame {
  readonly type: 'panel';
  readonly op: 'show';
  readonly item: string;
  readonly kind: string;
  /** The label of the agent that shows it; empty if nobody's. */
  readonly agent: string;
  /** The name of the mini app whose answer it is; else empty. */
  readonly app: string;
  readonly content: JsonObject;
}

export type PanelFrame =
  | PanelShowFrame
  | { readonly type: 'panel'; readonly op: 'close'; readonly item: string; readonly reason: string }
  | { readonly type: 'panel'; readonly op: 'refused'; readonly item: string; readonly code: string };

// ---- page to gateway

export type PanelAnswer = { readonly values: readonly string[] } | { readonly confirmed: boolean } | { readonly value: string | number };

export type PanelNewsFrame =
  | { readonly type: 'panel_answer'; readonly item: string; readonly answer: PanelAnswer }
  | { readonly type: 'panel_close'; readonly item: string };

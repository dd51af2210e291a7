/** The frames of mini apps on the page channel: `app` down, `app_news`, `intent` and `action` up. */

import type { Json, ResultCode } from './frames.js';

export type JsonObject = { readonly [key: string]: Json };

export type Profile = 'strict' | 'compat';

// ---- gateway to page

/** A bundle that comes with its frame: an agent, as people call it, sent it. */
export interface SentParts {
  readonly agent: string;
  readonly html: string;
  readonly css: string;
  readonly js: string;
}

/** What it takes to mount one instance. `sandbox` and `bundle` are paths of the gateway; `bundle` is empty if it was sent. */
export interface AppOpenFrame {
  readonly type: 'app';
  readonly op: 'open';
  readonly instance: string;
  readonly app: string;
  readonly version: string;
  readonly title: string;
  readonly surface: string;
  readonly sandbox: string;
  readonly bundle: string;
  readonly integrity: string;
  readonly events: readonly string[];
  readonly handlers: boolean;
  readonly profile: Profile;
  readonly state: JsonObject;
  readonly revision: number;
  readonly data: JsonObject;
  readonly sent?: SentParts;
}

export interface AppStateFrame {
  readonly type: 'app';
  readonly op: 'state';
  readonly instance: string;
  readonly state: JsonObject;
}

export interface AppToolFrame {
  readonly type: 'app';
  readonly op: 'tool';
  readonly instance: string;
  readonly ref: string;
  readonly method: string;
  readonly arguments: string;
  readonly deadline: number;
}

export interface AppForegroundFrame {
  readonly type: 'app';
  readonly op: 'foreground';
  readonly instance: string;
  /** The label of the agent whose call needs it; empty if nobody's. */
  readonly agent: string;
  readonly remaining: number;
}

export interface AppDataFrame {
  readonly type: 'app';
  readonly op: 'data';
  readonly instance: string;
  readonly id: string;
  readonly ok: boolean;
  readonly revision: number;
  readonly data: JsonObject;
}

export type AppFrame =
  | AppOpenFrame
  | AppStateFrame
  | AppToolFrame
  | AppForegroundFrame
  | AppDataFrame
  | { readonly type: 'app'; readonly op: 'cancel'; readonly instance: string; readonly ref: string }
  | { readonly type: 'app'; readonly op: 'close'; readonly instance: string; readonly reason: string };

export interface ReceiptFrame {
  readonly type: 'receipt';
  readonly id: string;
  readonly status: string;
  readonly seq: number;
  readonly reason?: string;
}

// ---- page to gateway

/** Why an instance has no frame. */
export type FailedCode = 'no_workspace' | 'too_many' | 'not_loaded' | 'integrity' | 'navigated' | 'unresponsive' | 'removed';

/** What a bundle's handler came to; kept until `ack`. */
export type ToolResultFrame =
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'result'; readonly ref: string; readonly ok: true; readonly output: Json }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'result'; readonly ref: string; readonly ok: false; readonly error: { readonly code: ResultCode; readonly message: string } };

export type AppNewsFrame =
  | ToolResultFrame
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'opened' | 'foregrounded' | 'refused' }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'failed'; readonly code: FailedCode; readonly message?: string }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'started'; readonly ref: string }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'progress'; readonly ref: string; readonly n: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'event'; readonly event: string; readonly data: JsonObject }
  | { readonly type: 'app_news'; readonly instance: string; readonly what: 'data'; readonly id: string; readonly revision: number; readonly data: JsonObject };

export type HostIntent = 'foregrounded' | 'backgrounded' | 'left_workspace' | 'closed' | 'restored' | 'locked';

export interface IntentFrame {
  readonly type: 'intent';
  readonly instance: string;
  readonly what: HostIntent;
}

/** What a mini app's own frame asks for; answered by one `action_reply`. */
export interface AppActionFrame {
  readonly type: 'action';
  readonly id: string;
  readonly instance: string;
  readonly action: string;
  readonly input: JsonObject;
}

/**
 * Every frame of the page channel, version 1, as types.
 * The words are those of `docs/spec/page-channel.md`; nothing here knows a socket.
 */

import type { AppActionFrame, AppFrame, AppNewsFrame, IntentFrame, ReceiptFrame } from './apps.js';
import type { DocumentActFrame, DocumentFrame, DocumentNewsFrame } from './documents.js';
import type { PanelFrame, PanelNewsFrame } from './panel.js';

/** The protocol an in-page client speaks; fixed by its specification. */
export const SURFACE_PROTOCOL = 'pling.surface/0.1';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Effect = 'read' | 'write' | 'destructive';
export type Risk = 'display_only' | 'user_confirmation' | 'system_permission' | 'restricted';
export type Confirm = 'never' | 'policy' | 'always';
export type Readiness = 'activation_not_required' | 'app_ready' | 'foreground_required';
export type CallModel = 'query' | 'command' | 'interactive' | 'operation';

export interface Declaration {
  readonly id: string;
  readonly title?: string;
  readonly description: string;
  readonly input_schema: Json;
  readonly output_schema?: Json;
  readonly effect?: Effect;
  readonly risk?: Risk;
  readonly confirm?: Confirm;
  readonly readiness?: Readiness;
  readonly call_model?: CallModel;
  readonly contract_version?: string;
  readonly timeout_ms?: number;
}

export type RefusedWhy =
  | 'stale_epoch'
  | 'stale_fingerprint'
  | 'unknown_capability'
  | 'not_available'
  | 'arguments_invalid'
  | 'approval_missing'
  | 'input_differs';

export type ResultCode = 'handler_error' | 'not_available' | 'arguments_invalid' | 'cancelled' | 'not_achieved';
export type Visibility = 'visible' | 'hidden';
export type ActionKind = 'pin' | 'unpin' | 'lift_deny' | 'disconnect_agent';

// ---- page to gateway

export interface HelloFrame {
  readonly type: 'hello';
  readonly v: 1;
  readonly site: string;
  readonly doc: string;
  readonly ticket: string;
  readonly resume?: string;
  readonly seen: readonly string[];
  readonly url: string;
  readonly title?: string;
  readonly visibility: Visibility;
  readonly automated: boolean;
  /** Mini apps can be shown here. */
  readonly workspace?: boolean;
}

export interface RefusedFrame {
  readonly type: 'refused';
  readonly ref: string;
  readonly why: RefusedWhy;
  readonly message?: string;
}

export type ResultFrame =
  | { readonly type: 'result'; readonly ref: string; readonly epoch: number; readonly ok: true; readonly output: Json; readonly evidence?: Json; readonly traceparent?: string }
  | { readonly type: 'result'; readonly ref: string; readonly epoch: number; readonly ok: false; readonly error: { readonly code: ResultCode; readonly message: string }; readonly traceparent?: string };

export interface ContextWindow {
  readonly records: readonly Json[];
  readonly recordIds: readonly string[];
  readonly recordWindow: { readonly offset: number; readonly limit: number; readonly total: number; readonly next: number | null };
}

export interface DecisionFrame {
  readonly type: 'decision';
  readonly approval: string;
  readonly nonce: string;
  readonly sha256: string;
  readonly decision: 'approve' | 'deny';
  readonly visible: boolean;
}

export interface ActionFrame {
  readonly type: 'action';
  readonly id: string;
  readonly action: ActionKind;
  readonly agent?: string;
  readonly capability?: string;
}

export type OutFrame =
  | HelloFrame
  | RefusedFrame
  | ResultFrame
  | DecisionFrame
  | ActionFrame
  | AppActionFrame
  | AppNewsFrame
  | PanelNewsFrame
  | DocumentNewsFrame
  | DocumentActFrame
  | IntentFrame
  | { readonly type: 'ticket'; readonly ticket: string }
  | { readonly type: 'caps'; readonly seq: number; readonly part: number; readonly parts: number; readonly capabilities: readonly Declaration[]; readonly host?: readonly string[] }
  | { readonly type: 'started'; readonly ref: string }
  | { readonly type: 'progress'; readonly ref: string; readonly n: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'described'; readonly id: string; readonly context: ContextWindow | null; readonly unavailable: readonly string[] }
  | { readonly type: 'surface'; readonly id: string; readonly envelope: Json }
  | { readonly type: 'pong'; readonly n: number; readonly visibility: Visibility }
  | { readonly type: 'error'; readonly code: string; readonly message?: string }
  | { readonly type: 'bye'; readonly why: string };

// ---- gateway to page

export interface WelcomeFrame {
  readonly type: 'welcome';
  readonly page: string;
  readonly epoch: number;
  readonly resume: string;
  readonly ping: number;
  readonly reauth: number;
  readonly in_page: boolean;
}

export interface InvokeFrame {
  readonly type: 'invoke';
  readonly ref: string;
  readonly epoch: number;
  readonly capability: string;
  readonly fingerprint: string;
  readonly input: string;
  readonly approval?: string;
  readonly deadline: number;
  readonly traceparent?: string;
}

export interface DescribeFrame {
  readonly type: 'describe';
  readonly id: string;
  readonly limit: number;
  readonly offset: number;
  readonly ids?: readonly string[];
}

export interface Rejected {
  readonly id: string;
  readonly code: string;
  readonly pointer: string;
}

export interface CapsAckFrame {
  readonly type: 'caps_ack';
  readonly seq: number;
  readonly accepted: Readonly<Record<string, string>>;
  readonly rejected: readonly Rejected[];
}

export type ApprovalUpdateState = 'open' | 'agent_left' | 'approved' | 'denied' | 'expired' | 'withdrawn';

export interface ApproveUpdateFrame {
  readonly type: 'approve_update';
  readonly approval: string;
  readonly state: ApprovalUpdateState;
  readonly code?: string;
}

export interface ActivityFrame {
  readonly type: 'activity';
  readonly agents: readonly { readonly agent: string; readonly label: string; readonly connected: boolean }[];
  readonly entries: readonly {
    readonly ref: string;
    readonly agent: string;
    readonly capability: string;
    readonly title: string;
    readonly state: string;
    readonly ago: number;
  }[];
  readonly pinned: boolean;
  readonly denied: readonly { readonly capability: string; readonly title: string; readonly agent: string; readonly remaining: number }[];
}

export interface ActionReplyFrame {
  readonly type: 'action_reply';
  readonly id: string;
  readonly ok: boolean;
  readonly code?: string;
  readonly message?: string;
  /** What came of what a mini app's frame asked for. */
  readonly output?: Json;
}

export type InFrame =
  | WelcomeFrame
  | InvokeFrame
  | DescribeFrame
  | CapsAckFrame
  | ApproveUpdateFrame
  | ActivityFrame
  | ActionReplyFrame
  | AppFrame
  | PanelFrame
  | DocumentFrame
  | ReceiptFrame
  | { readonly type: 'ack'; readonly ref: string }
  | { readonly type: 'cancel'; readonly ref: string }
  | { readonly type: 'approve_request'; readonly payload: string; readonly remaining: number; readonly elsewhere?: boolean }
  | { readonly type: 'surface_reply'; readonly id: string; readonly envelope: Json }
  | { readonly type: 'ping'; readonly n: number }
  | { readonly type: 'error'; readonly code: string; readonly message?: string }
  | { readonly type: 'bye'; readonly why: string };

// ---- inside `approve_request.payload`

export interface ApprovalArgument {
  readonly name: string;
  readonly value: string;
  readonly length?: number;
}

export interface ApprovalSummary {
  readonly verb: 'read' | 'change' | 'delete';
  readonly object: string;
  /** Empty where no agent asks, but the frame of a mini app in the person's name: then `app` is that app's. */
  readonly agent: string;
  readonly app?: string;
  readonly origin: string;
  readonly effect: Effect;
  readonly risk: Risk;
  readonly description: string;
  /** The agent's own words for why it asks. */
  readonly reason?: string;
  readonly arguments: readonly ApprovalArgument[];
  readonly changed: boolean;
}

export interface ApprovalPayload {
  readonly v: 1;
  readonly ref: string;
  readonly approval: string;
  readonly nonce: string;
  readonly capability: string;
  readonly fingerprint: string;
  readonly summary: ApprovalSummary;
  readonly input: string;
  readonly page: string;
  readonly epoch: number;
}

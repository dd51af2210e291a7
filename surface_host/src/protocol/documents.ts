/** The frames of documents on the page channel: `document` down, `document_news` and an `action` of its own up. */

import type { JsonObject } from './apps.js';

/** A revision of a document, as the page shows it. */
export interface DocumentRef {
  readonly call: string;
  readonly generation: string;
  readonly revision: number;
}

export type DocumentStanding = 'streaming' | 'complete' | 'cancelled';

export type ActionStanding = 'waiting' | 'running' | 'done' | 'refused' | 'failed' | 'unknown';

/** How an action of a document stands; drawn beside the document, not in it. */
export interface DocumentAction {
  readonly requestId: string;
  readonly actionId: string;
  readonly state: ActionStanding;
  readonly code?: string;
}

// ---- gateway to page

/** What is open, without what it shows; the page asks for what it wants to show. */
export interface DocumentListFrame {
  readonly type: 'document';
  readonly op: 'list';
  readonly max_bytes: number;
  readonly documents: readonly { readonly documentRef: DocumentRef; readonly state: DocumentStanding }[];
}

/** A document as it is now. `ui` is its shell and not judged yet. */
export interface DocumentOpenFrame {
  readonly type: 'document';
  readonly op: 'open';
  readonly documentRef: DocumentRef;
  readonly epoch: number;
  readonly seq: number;
  readonly kind: 'structured' | 'intelligent';
  readonly state: DocumentStanding;
  readonly agent: string;
  readonly max_bytes: number;
  readonly ui: JsonObject;
  readonly actions: readonly DocumentAction[];
}

export interface DocumentPatchFrame {
  readonly type: 'document';
  readonly op: 'patch';
  readonly documentRef: DocumentRef;
  readonly epoch: number;
  readonly seq: number;
  readonly baseRevision: number;
  readonly operations: readonly JsonObject[];
}

export interface DocumentEndFrame {
  readonly type: 'document';
  readonly op: 'end';
  readonly documentRef: DocumentRef;
  readonly epoch: number;
  readonly seq: number;
  readonly state: 'complete' | 'cancelled';
}

export type DocumentFrame =
  | DocumentListFrame
  | DocumentOpenFrame
  | DocumentPatchFrame
  | DocumentEndFrame
  | { readonly type: 'document'; readonly op: 'close'; readonly generation: string; readonly reason: string }
  | ({ readonly type: 'document'; readonly op: 'action'; readonly generation: string } & DocumentAction);

// ---- page to gateway

export interface DocumentNewsFrame {
  readonly type: 'document_news';
  readonly generation: string;
  readonly what: 'wanted' | 'closed';
}

/** What a person asks for in a document; answered by receipts and one `action_reply`, whose `id` is `requestId`. */
export interface DocumentActFrame {
  readonly type: 'action';
  readonly documentRef: DocumentRef;
  readonly requestId: string;
  readonly actionId: string;
  readonly values: JsonObject;
}

/** What host, outer frame, prelude and bundle say to each other: strings of JSON over ports, by namespace. */

import type { JsonObject, Profile } from '../protocol/apps.js';
import type { Json, ResultCode } from '../protocol/frames.js';

/** A surface bundle and the host (seed of the surface protocol). */
export const SURFACE = 'lineup.surface.v1';

/** The prelude and the host. */
export const FRAME = 'ostiary.frame.v1';

/** The handlers of a mini app and the host. */
export const APP = 'ostiary.app.v1';

/** The first message to the outer frame over its port. */
export interface Assignment {
  readonly html: string;
  readonly css: string;
  readonly js: string;
  readonly handlers: boolean;
  readonly profile: Profile;
  readonly lang: string;
}

/** What the outer frame says over its port. `port` carries the inner document's own port. */
export type OuterWord = 'port' | 'loaded' | 'navigated' | 'refused';

export type ToSurface = { readonly type: 'state'; readonly state: JsonObject };

export type ToApp =
  | { readonly type: 'call'; readonly ref: string; readonly method: string; readonly arguments: JsonObject }
  | { readonly type: 'cancel'; readonly ref: string }
  | { readonly type: 'receipt'; readonly id: string; readonly status: string; readonly seq: number; readonly reason?: string }
  | { readonly type: 'reply'; readonly id: string; readonly ok: boolean; readonly output?: Json; readonly code?: string; readonly message?: string }
  | { readonly type: 'session'; readonly id?: string; readonly ok: boolean; readonly revision: number; readonly data: JsonObject };

export type FromApp =
  | { readonly type: 'started'; readonly ref: string }
  | { readonly type: 'progress'; readonly ref: string; readonly n: number; readonly total?: number; readonly message?: string }
  | { readonly type: 'result'; readonly ref: string; readonly ok: true; readonly output: Json }
  | { readonly type: 'result'; readonly ref: string; readonly ok: false; readonly error: { readonly code: ResultCode; readonly message: string } }
  | { readonly type: 'request'; readonly id: string; readonly action: string; readonly input: JsonObject }
  | { readonly type: 'session'; readonly id: string; readonly revision: number; readonly data: JsonObject };

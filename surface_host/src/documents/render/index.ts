/** Draws documents: an entry of its own, loaded when the first one comes. */

export { mountDocument, type DocumentView, type Engine, type MountOptions, type Phase } from './mount.js';
export type { Dispatch, InvokeAnswer, InvokeRequest } from './requests.js';

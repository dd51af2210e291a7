/** The public API of `@ostiary/surface-host`. */

export { createSurfaceHost } from './host/create.js';
export { SURFACE_PROTOCOL } from './protocol/frames.js';
export type { Messages } from './ui/messages.js';
export type { HostEvents, SurfaceHost, SurfaceHostOptions } from './host/options.js';
export type { ConnectionState, Status, StatusCode } from './channel/status.js';
export type { CallContext, Capability, ContextSource, Outcome, PageContext, PageRecord, Verdict } from './core/index.js';
export type { CallModel, Confirm, Effect, Json, Readiness, Rejected, Risk } from './protocol/frames.js';

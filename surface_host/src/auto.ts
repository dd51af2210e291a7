/**
 * The one-script form: `<script src data-gateway data-site data-ticket-url data-lang data-badge data-workspace>`.
 *
 * Other scripts register before or after this one has loaded with
 * `(window.Ostiary ??= { queue: [] }).queue.push((host) => host.register(…))`.
 */

import type { AppsModule } from './host/apps.js';
import { createHost } from './host/create.js';
import type { PackModule, SurfaceHost, UiModule } from './host/options.js';
import { loadPinned } from './host/pinned.js';
import { fetchTicket } from './host/ticket.js';

export { createSurfaceHost } from './host/create.js';
export { SURFACE_PROTOCOL } from './protocol/frames.js';

/** Put in by the build: the hashes of what this file loads. */
declare const UI_INTEGRITY: string;
declare const APPS_INTEGRITY: string;
declare const PACK_INTEGRITY: string;

type Ready = (host: SurfaceHost) => void;

function start(): SurfaceHost | undefined {
  const script = document.currentScript;
  const { gateway, site, ticketUrl = '/ostiary/ticket', lang, badge, workspace } = script?.dataset ?? {};
  if (!(script instanceof HTMLScriptElement) || site === undefined) return undefined;
  const { nonce } = script;
  const beside = <M>(name: string, integrity: string): Promise<M> => loadPinned<M>(new URL(`surface-host-${name}.mjs`, script.src).href, integrity, nonce);
  return createHost(
    {
      // Without an address of its own the gateway is where this file came from.
      gateway: gateway ?? new URL(script.src).origin,
      site,
      getTicket: () => fetchTicket(ticketUrl),
      ...(lang === undefined ? {} : { lang }),
      badge: badge !== 'off',
      workspace: workspace !== 'off',
    },
    {
      loadUi: () => beside<UiModule>('ui', UI_INTEGRITY),
      loadApps: () => beside<AppsModule>('apps', APPS_INTEGRITY),
      loadPack: () => beside<PackModule>('pack', PACK_INTEGRITY),
    },
  );
}

/** The running host; undefined if the script carries no `data-site`. */
export const host = start();

const waiting: Ready[] = [];
const tell = (ready: Ready): void => {
  if (!host) {
    waiting.push(ready);
    return;
  }
  try {
    ready(host);
  } catch (error) {
    reportError(error);
  }
};

const earlier: unknown = (globalThis as { Ostiary?: { queue?: unknown } }).Ostiary?.queue;

/** Takes functions that get the host, at once if it is there. */
export const queue: { push(...ready: Ready[]): void } = { push: (...ready) => ready.forEach(tell) };

if (Array.isArray(earlier)) for (const ready of earlier) if (typeof ready === 'function') tell(ready as Ready);

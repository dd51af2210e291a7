/** One host per gateway and site in a document, however many bundles of this file the page carries. */

import { startHost } from './host.js';
import type { HostPorts, SurfaceHost, SurfaceHostOptions } from './options.js';

const SHARED = Symbol.for('ostiary.surface-host');

function shared(): Map<string, SurfaceHost> {
  const scope = globalThis as { [SHARED]?: Map<string, SurfaceHost> };
  return (scope[SHARED] ??= new Map<string, SurfaceHost>());
}

export function createHost(options: SurfaceHostOptions, ports?: HostPorts): SurfaceHost {
  const hosts = shared();
  const key = `${options.gateway}|${options.site}`;
  const existing = hosts.get(key);
  // Two hosts for one site would each run every call.
  if (existing && existing.status.state !== 'stopped') return existing;
  const host = startHost(options, ports);
  hosts.set(key, host);
  return host;
}

export function createSurfaceHost(options: SurfaceHostOptions): SurfaceHost {
  return createHost(options);
}

/** Tells a gateway that is down from one the browser will not let this page reach. */

const LOOPBACK = /^(.*\.)?localhost$|^127\.|^\[::1/;
const PRIVATE = /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.|^\[f[cde]|\.local$/;

export async function isLocalNetworkBlocked(gateway: string): Promise<boolean> {
  const { hostname } = new URL(gateway);
  const loopback = LOOPBACK.test(hostname);
  if (LOOPBACK.test(location.hostname) || !(loopback || PRIVATE.test(hostname))) return false;
  // Names the type library does not know yet.
  const ask = (name: string): Promise<PermissionStatus> => navigator.permissions.query({ name: name as PermissionName });
  try {
    const { state } = await ask(loopback ? 'loopback-network' : 'local-network').catch(() => ask('local-network-access'));
    return state !== 'granted';
  } catch {
    // A browser without the rule.
    return false;
  }
}

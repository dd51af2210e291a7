/** Tells a gateway that is down from one the browser will not let this page reach. */

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;
const PRIVATE = /^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2}|\[f[cde].*\]|.*\.local)$/;

export async function isLocalNetworkBlocked(gateway: string): Promise<boolean> {
  const { hostname } = new URL(gateway);
  const loopback = LOOPBACK.test(hostname);
  if ((!loopback && !PRIVATE.test(hostname)) || LOOPBACK.test(location.hostname)) return false;
  for (const name of [loopback ? 'loopback-network' : 'local-network', 'local-network-access']) {
    try {
      // Names the type library does not know yet.
      const { state } = await navigator.permissions.query({ name: name as PermissionName });
      return state !== 'granted';
    } catch {
      /* an older name, or a browser without the rule */
    }
  }
  return false;
}

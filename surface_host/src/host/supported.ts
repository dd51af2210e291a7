/** Which of the host's own capabilities this browser has. */

import { HOSTED, type HostedId } from '../core/index.js';

const HAS: { readonly [T in HostedId]?: () => boolean } = {
  'clipboard.write': () => typeof navigator.clipboard?.writeText === 'function',
  'notification.show': () => 'Notification' in globalThis && isSecureContext,
};

export const supported = (): HostedId[] => HOSTED.filter((id) => HAS[id]?.() ?? true);

/**
 * Mini apps, as far as the core knows them: their module is loaded with the first one, and until then what comes for it waits.
 */

import type { AppFrame, FailedCode, ReceiptFrame } from '../protocol/apps.js';
import type { ActionReplyFrame } from '../protocol/frames.js';
import type { Apps, AppsOptions } from '../apps/index.js';

/** How the workspace is found. */
export type AppsModule = Pick<typeof import('../apps/index.js'), 'createApps'>;

export interface LazyApps extends Pick<Apps, 'ack' | 'seen' | 'resume' | 'abandon' | 'destroy'> {
  take(frame: AppFrame | ReceiptFrame): void;
  replied(frame: ActionReplyFrame): boolean;
}

/** Without `load` the site wants no mini apps in this page. */
export function createLazyApps(load: (() => Promise<AppsModule>) | undefined, options: AppsOptions, onError: () => void): LazyApps {
  let apps: Apps | undefined;
  let waiting: (AppFrame | ReceiptFrame)[] = [];
  let isLoading = false;

  const refuse = (frame: AppFrame | ReceiptFrame, code: FailedCode): void => {
    if (frame.type === 'app' && frame.op === 'open') options.send({ type: 'app_news', instance: frame.instance, what: 'failed', code });
  };

  const begin = async (loading: () => Promise<AppsModule>): Promise<void> => {
    isLoading = true;
    try {
      const { createApps } = await loading();
      if (isLoading) apps = createApps(options);
      for (const frame of waiting) apps?.take(frame);
    } catch {
      onError();
      for (const frame of waiting) refuse(frame, 'not_loaded');
    }
    waiting = [];
    isLoading = false;
  };

  return {
    take(frame) {
      if (apps) return apps.take(frame);
      if (!load) return refuse(frame, 'no_workspace');
      waiting.push(frame);
      if (!isLoading) void begin(load);
    },
    replied: (frame) => apps?.replied(frame) ?? false,
    ack: (ref) => apps?.ack(ref),
    seen: () => apps?.seen() ?? [],
    resume: () => apps?.resume(),
    abandon() {
      waiting = [];
      apps?.abandon();
    },
    destroy() {
      isLoading = false;
      apps?.destroy();
    },
  };
}

/**
 * Loads the UI beside the one-script form and holds it to the hash this file was built with:
 * a site that pins the script with `integrity` has then pinned the dialog as well.
 */

import type { UiModule } from './options.js';

/** Put in by the build. */
declare const UI_INTEGRITY: string;

export async function loadPinned(url: string, nonce: string): Promise<UiModule> {
  const link = document.createElement('link');
  if (link.relList.supports('modulepreload')) {
    Object.assign(link, { rel: 'modulepreload', href: url, integrity: UI_INTEGRITY, crossOrigin: 'anonymous', nonce });
    await new Promise((resolve, reject) => {
      link.onload = resolve;
      link.onerror = () => reject(new Error('the UI did not load or is not the pinned one'));
      document.head.append(link);
    });
    link.remove();
  }
  // The module map keeps what was checked; the import takes it from there.
  return (await import(/* @vite-ignore */ url)) as UiModule;
}

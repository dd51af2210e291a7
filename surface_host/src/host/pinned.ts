/**
 * Loads a module beside the one-script form and holds it to the hash this file was built with:
 * a site that pins the script with `integrity` has then pinned what it loads as well.
 */

export async function loadPinned<M>(url: string, integrity: string, nonce: string): Promise<M> {
  const link = document.createElement('link');
  if (link.relList.supports('modulepreload')) {
    Object.assign(link, { rel: 'modulepreload', href: url, integrity, crossOrigin: 'anonymous', nonce });
    await new Promise((resolve, reject) => {
      link.onload = resolve;
      link.onerror = () => reject(new Error('it did not load or is not the pinned one'));
      document.head.append(link);
    });
    link.remove();
  }
  // The module map keeps what was checked; the import takes it from there.
  return (await import(/* @vite-ignore */ url)) as M;
}

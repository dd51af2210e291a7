/** What the core may not name: the clock, the event loop and the hash of the browser. */

export function later(ms: number, task: () => void): () => void {
  // Longer waits overflow and would fire at once.
  const timer = setTimeout(task, Math.min(ms, 2 ** 31 - 1));
  return () => clearTimeout(timer);
}

/** One turn of the event loop by message: timers and animation frames stand still in hidden tabs. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export async function sha256(text: string): Promise<string> {
  if (!crypto.subtle) throw new Error('an approval needs a secure context (https or localhost)');
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

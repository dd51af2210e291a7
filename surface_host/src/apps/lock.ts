/** Tells when the screen is locked, where the person allowed this page to know. Nobody is asked for that here. */

interface IdleDetector extends EventTarget {
  readonly screenState: 'locked' | 'unlocked' | null;
  start(options: { readonly signal: AbortSignal }): Promise<void>;
}

export async function watchLock(onLock: (isLocked: boolean) => void, signal: AbortSignal): Promise<void> {
  const Detector = (globalThis as { IdleDetector?: new () => IdleDetector }).IdleDetector;
  if (!Detector) return;
  try {
    const { state } = await navigator.permissions.query({ name: 'idle-detection' as PermissionName });
    if (state !== 'granted' || signal.aborted) return;
    const detector = new Detector();
    detector.addEventListener('change', () => onLock(detector.screenState === 'locked'), { signal });
    await detector.start({ signal });
  } catch {
    // A browser without the rule, or a frame that may not use it.
  }
}

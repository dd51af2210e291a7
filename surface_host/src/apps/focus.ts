/** Gives the focus back that a frame took by itself: nobody touched keys or pointer, and the pointer is elsewhere. */

const RECENT_MS = 1_000;

/** `focused` is the frame that has the focus now, if one of ours has it. */
export function guardFocus(focused: () => HTMLElement | undefined, signal: AbortSignal): void {
  let touchedAt = -Infinity;
  let last: EventTarget | null = null;
  let top = scrollY;
  const touched = (): void => {
    touchedAt = performance.now();
  };
  const options = { capture: true, passive: true, signal } as const;
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, touched, options);
  addEventListener('scroll', () => void (top = focused() ? top : scrollY), options);
  addEventListener('focusin', ({ target }) => void (last = focused() ? last : target), options);
  addEventListener(
    'blur',
    () => {
      // A frame that gets the focus blurs the window around it. A click in it is not seen here, but the pointer is.
      const frame = focused();
      if (!frame || performance.now() - touchedAt < RECENT_MS || frame.matches(':hover') || matchMedia('(hover: none)').matches) return;
      if (last instanceof HTMLElement && last.isConnected) last.focus({ preventScroll: true });
      else frame.blur();
      scrollTo({ top, behavior: 'instant' });
    },
    { signal },
  );
}

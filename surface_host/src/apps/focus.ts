/**
 * Gives the focus back that a frame took out of a field of the page: what is typed next would be the frame's to read.
 *
 * Only out of a field, and only if nobody moved it there by keys or by hand. From anywhere else the focus may go: a screen
 * reader takes it into a frame without a key or a click that the page could see.
 */

const RECENT_MS = 1_000;
/** The word of a hand in a frame comes a little later than the focus it moved. */
const WORD_MS = 60;

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && target.isConnected && (target.isContentEditable || target.matches('input,textarea,select'));

/** `focused` is the frame that has the focus now, if one of ours has it; `touched` when a hand was last in one. */
export function guardFocus(focused: () => HTMLElement | undefined, touched: () => number, signal: AbortSignal): void {
  let steppedAt = -Infinity;
  let last: EventTarget | null = null;
  let top = scrollY;
  const options = { capture: true, passive: true, signal } as const;
  const stepped = (): void => {
    steppedAt = performance.now();
  };
  addEventListener('pointerdown', stepped, options);
  // Of all keys only this one moves the focus; a person who writes is not on the way to a frame.
  addEventListener('keydown', ({ key }) => key === 'Tab' && stepped(), options);
  addEventListener('scroll', () => void (top = focused() ? top : scrollY), options);
  addEventListener('focusin', (event) => void (last = focused() ? last : (event.composedPath()[0] ?? null)), options);
  addEventListener(
    'blur',
    () => {
      // A frame that gets the focus blurs the window around it.
      const frame = focused();
      const at = performance.now();
      if (!frame || at - steppedAt < RECENT_MS || !isField(last)) return;
      const [back, before] = [last, top];
      setTimeout(() => {
        if (focused() !== frame || touched() > at - RECENT_MS) return;
        frame.blur();
        focus();
        back.focus({ preventScroll: true });
        scrollTo({ top: before, behavior: 'instant' });
      }, WORD_MS);
    },
    { signal },
  );
}

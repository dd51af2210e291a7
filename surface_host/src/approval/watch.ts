/** Knows whether a person can see the dialog. */

/** Options and entries of IntersectionObserver v2, which the type library does not know yet. */
type SightOptions = IntersectionObserverInit & { readonly trackVisibility: true; readonly delay: number };
type SightEntry = IntersectionObserverEntry & { readonly isVisible?: boolean };

export interface SightWatch {
  /** False if the browser says that something covers the dialog. Browsers that cannot tell say true. */
  readonly visible: boolean;
  stop(): void;
}

export function watchSight(target: Element, onChange: () => void): SightWatch {
  // Until the first report nothing is known, so nothing is claimed.
  let visible = !('IntersectionObserverEntry' in globalThis && 'isVisible' in IntersectionObserverEntry.prototype);
  if (visible) return { visible, stop: () => undefined };
  const options: SightOptions = { trackVisibility: true, delay: 100, threshold: [0, 0.5, 1] };
  const observer = new IntersectionObserver((entries) => {
    visible = (entries.at(-1) as SightEntry).isVisible === true;
    onChange();
  }, options);
  observer.observe(target);
  return {
    get visible() {
      return visible;
    },
    stop: () => observer.disconnect(),
  };
}

/** True if a modal of the page lies on top: ours is inert then, and clicks fall through it. */
export function isOvertaken(root: ShadowRoot, dialog: HTMLDialogElement, probe: Element): boolean {
  const { left, top, width, height } = probe.getBoundingClientRect();
  const x = left + width / 2;
  const y = top + height / 2;
  return x > 0 && y > 0 && x < innerWidth && y < innerHeight && !dialog.contains(root.elementFromPoint(x, y));
}

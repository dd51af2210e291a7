/** Keeps the dialog where a person can see it, and knows whether they can. */

/** Trackers of IntersectionObserver v2, which the type library does not know yet. */
interface VisibilityEntry extends IntersectionObserverEntry {
  readonly isVisible?: boolean;
}

export interface SightWatch {
  /** False if the browser says that something covers the dialog. Browsers that cannot tell say true. */
  readonly visible: boolean;
  stop(): void;
}

export function watchSight(target: Element, onChange: () => void): SightWatch {
  let visible = true;
  let stop = (): void => undefined;
  const supported = typeof IntersectionObserverEntry !== 'undefined' && 'isVisible' in IntersectionObserverEntry.prototype;
  if (supported) {
    const options: IntersectionObserverInit & { trackVisibility: boolean; delay: number } = {
      trackVisibility: true,
      delay: 100,
      threshold: [0, 0.5, 1],
    };
    // Until the first report nothing is known, so nothing is claimed.
    visible = false;
    const observer = new IntersectionObserver((entries) => {
      const latest = entries[entries.length - 1] as VisibilityEntry | undefined;
      visible = latest?.isVisible === true;
      onChange();
    }, options);
    observer.observe(target);
    stop = () => observer.disconnect();
  }
  return {
    get visible() {
      return visible;
    },
    stop: () => stop(),
  };
}

/** True if a modal of the page lies on top: ours is inert then, and clicks fall through it. */
export function isOvertaken(root: ShadowRoot, dialog: HTMLDialogElement, probe: Element): boolean {
  const { left, top, width, height } = probe.getBoundingClientRect();
  const x = left + width / 2;
  const y = top + height / 2;
  if (!width || x < 0 || y < 0 || x > innerWidth || y > innerHeight) return false;
  const hit = root.elementFromPoint(x, y);
  return !hit || !dialog.contains(hit);
}

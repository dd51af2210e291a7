/** Whether something can be seen: told when that may have changed. No timer and no animation frame. */

export function isSeen(element: HTMLElement | undefined): boolean {
  if (!element?.isConnected || document.visibilityState !== 'visible') return false;
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) return false;
  const { top, left, bottom, right, width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
}

/** Calls `task` whenever the watched element came into sight or went out of it; one element at a time. */
export function createSight(task: () => void): { watch(element: HTMLElement | undefined): void; stop(): void } {
  const observer = new IntersectionObserver(task, { threshold: [0, 0.01] });
  let watched: HTMLElement | undefined;
  return {
    watch(element) {
      if (element === watched) return;
      if (watched) observer.unobserve(watched);
      watched = element;
      if (element) observer.observe(element);
    },
    stop: () => observer.disconnect(),
  };
}

/** How long to wait before the next connection attempt. */

export interface Backoff {
  next(): number;
  reset(): void;
}

export function createBackoff(random: () => number, first = 500, most = 30_000): Backoff {
  let attempt = 0;
  return {
    next() {
      const ceiling = Math.min(most, first * 2 ** attempt);
      attempt = Math.min(attempt + 1, 16);
      // Half fixed, half random: hosts cut off together do not come back together.
      return ceiling / 2 + (random() * ceiling) / 2;
    },
    reset() {
      attempt = 0;
    },
  };
}

/** From values to places: round ticks, and labels that do not run into each other. */

export interface Scale {
  /** Ends of the axis, both on a tick. */
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
  /** The share of the axis at which `value` stands, from 0 to 1. */
  at(value: number): number;
}

/** Steps a person counts in. */
const ROUND = [1, 2, 5, 10];

/** An axis from and to round numbers around the values, with about `count` ticks; with `zero` it holds 0. */
export function createScale(values: readonly number[], count: number, zero: boolean): Scale {
  let low = Math.min(...values, ...(zero ? [0] : []));
  let high = Math.max(...values, ...(zero ? [0] : []));
  // A line that starts near zero is read more honestly from zero.
  if (low > 0 && low <= high / 2) low = 0;
  if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(low, 0), Math.max(high, 0)];
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (ROUND.find((round) => round * power >= rough * 0.999) ?? 10) * power;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  // Multiples of the step, each made anew: a sum would drift.
  const ticks = Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
  const [from, to] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  return { from, to, ticks, at: (value) => (value - from) / (to - from) };
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const BROAD = /[A-Zmw%@&—…]/;
const NARROW = /[iljtfrI.,:;'|!()[\] -]/;

/** About how wide a label is, in pixels at 12 px, rather too much than too little; nothing is laid out for it. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 12 : BROAD.test(character) ? 9 : NARROW.test(character) ? 4.4 : 7.2;
  return width;
}

/** The text, cut to about `width` pixels. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > width - 10) break;
    kept += character;
  }
  return kept === '' ? '' : `${kept.trimEnd()}…`;
}

/** Show every n-th label, so that labels of these widths have `room` pixels each. */
export function everyNth(labels: readonly string[], room: number, widest: number): number {
  const wanted = Math.min(Math.max(...labels.map(widthOf)), widest) + 10;
  return Math.max(1, Math.ceil(wanted / Math.max(room, 0.1)));
}

/** What all kinds of charts share: their values, their marks, and the grid they stand in. */

import { svg } from '../dom.js';
import type { Numbers } from '../numbers.js';
import { widthOf, type Scale } from './scale.js';

export interface Datum {
  readonly label: string;
  readonly value: number;
}

/** A place the pointer can be near to: where the words about a value are shown. */
export interface Mark {
  readonly x: number;
  readonly y: number;
  readonly element: Element;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Node[];
  readonly marks: readonly Mark[];
  /** What a pointer is measured by: along an axis, or on the mark itself. */
  readonly nearest: 'x' | 'y' | 'mark';
}

export type Draw = (data: readonly Datum[], width: number, numbers: Numbers) => Drawing;

export const round = (value: number): number => Math.round(value * 100) / 100;

/** Spells the values of one chart, all in the same way. */
export function shortener(values: readonly number[], numbers: Numbers): (value: number) => string {
  const largest = Math.max(...values.map(Math.abs));
  return (value) => numbers.compact(value, largest);
}

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The room that is left for the marks of an upright chart. */
export function plotOf(width: number, scale: Scale, numbers: Numbers, { top = 14 } = {}): Plot {
  const height = heightOf(width);
  const nameOf = shortener(scale.ticks, numbers);
  const left = Math.min(Math.ceil(Math.max(...scale.ticks.map((tick) => widthOf(nameOf(tick))))) + 12, width / 3);
  return { left, top, width: width - left - 12, height: height - top - 28 };
}

export const heightOf = (width: number): number => Math.round(Math.min(Math.max(width * 0.46, 190), 300));

/** Lines across, each with its number before it; the one of zero is stronger. */
export function gridOf(plot: Plot, scale: Scale, numbers: Numbers): Node[] {
  const nameOf = shortener(scale.ticks, numbers);
  return scale.ticks.flatMap((tick) => {
    const y = round(plot.top + (1 - scale.at(tick)) * plot.height);
    return [
      svg('line', { class: tick === 0 ? 'zero' : 'rule', x1: plot.left, x2: plot.left + plot.width, y1: y, y2: y }),
      svg('text', { class: 'tick', x: plot.left - 8, y: y + 4, 'text-anchor': 'end' }, nameOf(tick)),
    ];
  });
}

/** A name under its mark, kept inside a drawing of this width. */
export function nameUnder(x: number, y: number, text: string, width: number): SVGTextElement {
  const half = widthOf(text) / 2;
  return svg('text', { class: 'name', x: round(Math.max(half, Math.min(x, width - half))), y: round(y), 'text-anchor': 'middle' }, text);
}

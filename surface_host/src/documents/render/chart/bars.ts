/** Bars: upright, or lying where their names need the room. */

import { svg } from '../dom.js';
import type { Numbers } from '../numbers.js';
import { gridOf, heightOf, nameUnder, plotOf, round, shortener, type Datum, type Draw, type Drawing } from './figure.js';
import { createScale, everyNth, fit, widthOf } from './scale.js';

const ROW = 32;
const THICK = 18;
/** With more bars than this, names are thinned out rather than bars laid down. */
const MOST_LYING = 24;

export const drawBars: Draw = (data, width, numbers) => {
  const widest = Math.max(...data.map(({ label }) => widthOf(label)));
  const isTight = widest > (width - 60) / data.length - 6;
  return isTight && data.length <= MOST_LYING ? lying(data, width, numbers) : upright(data, width, numbers);
};

function upright(data: readonly Datum[], width: number, numbers: Numbers): Drawing {
  const values = data.map(({ value }) => value);
  const scale = createScale(values, heightOf(width) / 52, true);
  const plot = plotOf(width, scale, numbers, { top: 22 });
  const band = plot.width / data.length;
  const thick = Math.min(Math.max(band * 0.64, 1), 64);
  const yOf = (value: number): number => plot.top + (1 - scale.at(value)) * plot.height;
  const zero = yOf(0);
  const step = everyNth(data.map(({ label }) => label), band, 120);
  const figures = values.map(shortener(values, numbers));
  const areFiguresShown = Math.max(...figures.map(widthOf)) <= band - 4;
  const nodes: Node[] = gridOf(plot, scale, numbers);
  const marks = data.map(({ label, value }, at) => {
    const x = plot.left + band * (at + 0.5);
    const y = yOf(value);
    const element = svg('path', { class: 'mark bar-mark', d: barPath(x - thick / 2, zero, thick, y - zero) });
    nodes.push(element);
    if (areFiguresShown) nodes.push(svg('text', { class: 'value', x: round(x), y: round(value < 0 ? y + 15 : y - 6), 'text-anchor': 'middle' }, figures[at] ?? ''));
    if (at % step === 0) nodes.push(nameUnder(x, plot.top + plot.height + 19, fit(label, Math.max(band * step - 6, 24)), width));
    return { x, y: Math.min(y, zero), element };
  });
  return { width, height: heightOf(width), nodes, marks, nearest: 'x' };
}

function lying(data: readonly Datum[], width: number, numbers: Numbers): Drawing {
  const values = data.map(({ value }) => value);
  const figures = values.map(shortener(values, numbers));
  const widest = Math.max(...data.map(({ label }) => widthOf(label))) + 10;
  // Where names would take the room of the bars, each stands above its own.
  const isStacked = widest > width * 0.42;
  const row = isStacked ? ROW + 16 : ROW;
  const ends = Math.max(...figures.map(widthOf)) + 10;
  const isSigned = values.some((value) => value < 0);
  const left = (isStacked ? 0 : widest) + (isSigned ? ends : 0);
  const room = Math.max(width - left - ends, 20);
  // The longest bar uses the whole room: with a figure at its end it needs no axis.
  const [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
  const xOf = (value: number): number => left + ((value - low) / (high - low || 1)) * room;
  const zero = xOf(0);
  const nodes: Node[] = [];
  const marks = data.map(({ label, value }, at) => {
    const top = at * row + (isStacked ? 22 : 7);
    const x = xOf(value);
    const element = svg('path', { class: 'mark bar-mark', d: lyingPath(zero, top, x - zero) });
    nodes.push(
      svg('rect', { class: 'track', x: round(left), y: top, width: round(room), height: THICK, rx: 4 }),
      svg('text', { class: 'name', x: 0, y: isStacked ? top - 6 : top + 13 }, fit(label, isStacked ? width : widest)),
      element,
      svg('text', { class: 'value', x: round(value < 0 ? x - 6 : x + 6), y: top + 13, 'text-anchor': value < 0 ? 'end' : 'start' }, figures[at] ?? ''),
    );
    return { x: Math.max(x, zero), y: top, element };
  });
  return { width, height: data.length * row + 4, nodes, marks, nearest: 'y' };
}

/** A bar from the base line up (`rise` < 0) or down, round at its far end. */
function barPath(x: number, base: number, thick: number, rise: number): string {
  const corner = Math.min(4, thick / 2, Math.abs(rise));
  const far = base + rise;
  const turn = far + Math.sign(-rise) * corner;
  return `M${round(x)} ${round(base)}V${round(turn)}Q${round(x)} ${round(far)} ${round(x + corner)} ${round(far)}H${round(x + thick - corner)}Q${round(x + thick)} ${round(far)} ${round(x + thick)} ${round(turn)}V${round(base)}Z`;
}

function lyingPath(base: number, y: number, reach: number): string {
  const corner = Math.min(4, Math.abs(reach));
  const far = base + reach;
  const turn = far - Math.sign(reach) * corner;
  return `M${round(base)} ${y}H${round(turn)}Q${round(far)} ${y} ${round(far)} ${y + corner}V${y + THICK - corner}Q${round(far)} ${y + THICK} ${round(turn)} ${y + THICK}H${round(base)}Z`;
}

/** Lines, with or without the area under them. */

import { area, curveMonotoneX, line } from 'd3-shape';
import { svg } from '../dom.js';
import { gridOf, heightOf, nameUnder, plotOf, round, type Draw } from './figure.js';
import { createScale, everyNth, fit } from './scale.js';

/** With more points than this, dots would hide the line. */
const MOST_DOTS = 40;

const drawLine =
  (isFilled: boolean): Draw =>
  (data, width, numbers) => {
    const scale = createScale(data.map(({ value }) => value), heightOf(width) / 52, isFilled);
    const plot = plotOf(width, scale, numbers);
    const room = plot.width / Math.max(data.length - 1, 1);
    const inset = Math.min(room / 2, 14);
    const span = plot.width - 2 * inset;
    const points = data.map(({ value }, at) => ({
      x: plot.left + inset + (data.length === 1 ? span / 2 : (at / (data.length - 1)) * span),
      y: plot.top + (1 - scale.at(value)) * plot.height,
    }));
    const base = plot.top + (1 - scale.at(Math.min(Math.max(0, scale.from), scale.to))) * plot.height;
    const x = ({ x }: { x: number }): number => round(x);
    const y = ({ y }: { y: number }): number => round(y);
    const step = everyNth(data.map(({ label }) => label), room, 120);
    const nodes: Node[] = gridOf(plot, scale, numbers);
    if (isFilled) nodes.push(svg('path', { class: 'under', d: area<{ x: number; y: number }>(x, base, y).curve(curveMonotoneX)(points) ?? '' }));
    nodes.push(svg('path', { class: 'stroke', d: line<{ x: number; y: number }>(x, y).curve(curveMonotoneX)(points) ?? '' }));
    const marks = points.map((point, at) => {
      const element = svg('circle', { class: data.length > MOST_DOTS ? 'mark dot quiet' : 'mark dot', cx: x(point), cy: y(point), r: 3.5 });
      nodes.push(element);
      if (at % step === 0) nodes.push(nameUnder(point.x, plot.top + plot.height + 19, fit(data[at]?.label ?? '', Math.max(room * step - 6, 24)), width));
      return { ...point, element };
    });
    return { width, height: heightOf(width), nodes, marks, nearest: 'x' };
  };

export const drawPlainLine = drawLine(false);
export const drawArea = drawLine(true);

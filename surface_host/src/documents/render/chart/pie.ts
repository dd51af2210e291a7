/** A ring of shares, with its names and figures beside it. */

import { arc, pie, type PieArcDatum } from 'd3-shape';
import { svg } from '../dom.js';
import { Fault } from '../faults.js';
import { round, shortener, type Datum, type Draw } from './figure.js';
import { fit, widthOf } from './scale.js';

const ROW = 26;
const COLOURS = 8;

export const drawPie: Draw = (data, width, numbers) => {
  const values = data.map(({ value }) => value);
  if (values.some((value) => value < 0)) throw new Fault('render.share_negative');
  const sum = values.reduce((total, value) => total + value, 0);
  if (sum === 0) throw new Fault('render.share_of_nothing');
  const isBeside = width >= 420;
  const size = Math.min(isBeside ? width * 0.42 : width * 0.72, 220);
  const legend = data.length * ROW;
  const height = isBeside ? Math.max(size, legend) + 8 : size + 20 + legend;
  const centre = { x: isBeside ? size / 2 + 4 : width / 2, y: isBeside ? height / 2 : size / 2 + 4 };
  const radius = size / 2;
  const shape = arc<PieArcDatum<Datum>>().innerRadius(radius * 0.6).outerRadius(radius).cornerRadius(3).padAngle(data.length > 1 ? 0.014 : 0);
  const slices = pie<Datum>().value(({ value }) => value).sort(null)([...data]);
  const nodes: Node[] = [];
  const left = isBeside ? size + 36 : 8;
  const top = isBeside ? (height - legend) / 2 : size + 20;
  const shares = data.map(({ value }) => numbers.percent(value / sum));
  const figures = values.map(shortener(values, numbers));
  const shareRoom = Math.max(...shares.map(widthOf)) + 14;
  const end = Math.min(width - 4, left + 340);
  const room = end - left - shareRoom - Math.max(...figures.map(widthOf)) - 34;
  const marks = slices.map((slice, at) => {
    const colour = at % COLOURS;
    const [dx, dy] = shape.centroid(slice);
    const element = svg('path', { class: 'mark slice', 'data-colour': colour, d: shape(slice) ?? '', transform: `translate(${round(centre.x)} ${round(centre.y)})` });
    const middle = round(top + at * ROW + ROW / 2);
    nodes.push(
      element,
      svg('rect', { class: 'swatch', 'data-colour': colour, x: left, y: middle - 5, width: 10, height: 10, rx: 3 }),
      svg('text', { class: 'name', x: left + 18, y: middle + 4 }, fit(data[at]?.label ?? '', room)),
      svg('text', { class: 'value', x: round(end - shareRoom), y: middle + 4, 'text-anchor': 'end' }, figures[at] ?? ''),
      svg('text', { class: 'tick', x: round(end), y: middle + 4, 'text-anchor': 'end' }, shares[at] ?? ''),
    );
    return { x: centre.x + dx, y: centre.y + dy, element };
  });
  return { width, height, nodes, marks, nearest: 'mark' };
};

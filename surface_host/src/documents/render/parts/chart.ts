/**
 * A chart: drawn to the width it has, so that its letters keep their size.
 *
 * To a screen reader it is a picture with a sentence about it, and a table of its values.
 */

import { drawBars } from '../chart/bars.js';
import type { Datum, Draw, Drawing, Mark } from '../chart/figure.js';
import { drawArea, drawPlainLine } from '../chart/lines.js';
import { drawPie } from '../chart/pie.js';
import { el } from '../../../ui/dom.js';
import { setItems, setText, svg } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

type Kind = PropsByType['Chart']['kind'];

const DRAWS: { readonly [K in Kind]: Draw } = { bar: drawBars, line: drawPlainLine, area: drawArea, pie: drawPie };

/** Until there is a layout to measure. */
const USUAL_WIDTH = 560;
const LEAST_WIDTH = 200;

export const chart: Builder<PropsByType['Chart']> = (scene, id) => {
  const name = svg('title', { id: scene.name(id, 'title') });
  const about = svg('desc', { id: scene.name(id, 'about') });
  const scenery = svg('g');
  const picture = svg('svg', { role: 'img', 'aria-labelledby': `${name.id} ${about.id}` }, name, about, scenery);
  const tip = el('p', { class: 'tip', 'aria-hidden': 'true', hidden: true }, el('span', { dir: 'auto' }), el('b'));
  const caption = el('caption');
  const head = el('tr', {}, el('th', { scope: 'col' }, scene.say('label')), el('th', { scope: 'col' }, scene.say('value')));
  const body = el('tbody');
  const values = el('div', { class: 'aloud' }, el('table', {}, caption, el('thead', {}, head), body));
  const title = el('p', { class: 'chart-title', dir: 'auto', 'aria-hidden': 'true' });
  const canvas = el('div', { class: 'canvas' }, picture, tip);
  const element = el('div', { class: 'chart' }, title, canvas, values);

  let data: readonly Datum[] = [];
  let kind: Kind = 'bar';
  let width = 0;
  let drawing: Drawing | undefined;

  const draw = (): void => {
    drawing = DRAWS[kind](data, Math.max(width || USUAL_WIDTH, LEAST_WIDTH), scene.numbers);
    picture.setAttribute('viewBox', `0 0 ${drawing.width} ${drawing.height}`);
    scenery.replaceChildren(...drawing.nodes);
    point(undefined);
  };

  // ---- the words at the pointer

  let pointed: Mark | undefined;
  const point = (mark: Mark | undefined): void => {
    pointed?.element.removeAttribute('data-on');
    pointed = mark;
    tip.hidden = mark === undefined;
    if (!mark || !drawing) return;
    mark.element.setAttribute('data-on', '');
    const datum = data[drawing.marks.indexOf(mark)];
    setText(tip.firstChild as Node, datum?.label ?? '');
    setText(tip.lastChild as Node, datum ? scene.numbers.format(datum.value) : '');
    const ratio = canvas.clientWidth / drawing.width;
    const half = tip.offsetWidth / 2;
    const x = Math.min(Math.max(mark.x * ratio, half), canvas.clientWidth - half);
    tip.style.transform = `translate(${x - half}px, ${mark.y * ratio - tip.offsetHeight - 8}px)`;
  };
  canvas.addEventListener('pointermove', ({ clientX, clientY, target }) => {
    if (!drawing) return;
    const box = picture.getBoundingClientRect();
    const ratio = drawing.width / box.width;
    const at = { x: (clientX - box.left) * ratio, y: (clientY - box.top) * ratio };
    const { nearest, marks } = drawing;
    if (nearest === 'mark') point(marks.find((mark) => mark.element === target));
    else point(marks.reduce((best, mark) => (Math.abs(mark[nearest] - at[nearest]) < Math.abs(best[nearest] - at[nearest]) ? mark : best)));
  });
  canvas.addEventListener('pointerleave', () => point(undefined));

  const watch = new ResizeObserver(([entry]) => {
    const next = Math.round(entry?.contentRect.width ?? 0);
    // A hidden one has no width; it is drawn when it is shown.
    if (next === 0 || next === width) return;
    width = next;
    if (drawing) draw();
  });
  watch.observe(canvas);

  return {
    element,
    update(props) {
      const read = props.data.map(({ label, value }) => ({ label, value: scene.number(value) }));
      const isSame = drawing !== undefined && kind === props.kind && read.length === data.length && read.every((datum, at) => datum.label === data[at]?.label && Object.is(datum.value, data[at]?.value));
      setText(title, props.title ?? '');
      title.hidden = !props.title;
      const words = props.title ?? scene.say(props.kind);
      if (isSame) return;
      data = read;
      kind = props.kind;
      drawing = undefined;
      setText(name, words);
      setText(caption, words);
      const sorted = read.map(({ value }) => value).sort((a, b) => a - b);
      setText(about, scene.say('chartOf', scene.say(kind), read.length, scene.numbers.format(sorted[0] ?? 0), scene.numbers.format(sorted.at(-1) ?? 0)));
      setItems(body, read, () => el('tr', {}, el('th', { scope: 'row', dir: 'auto' }), el('td')), (row, { label, value }) => {
        setText(row.children[0] as Element, label);
        setText(row.children[1] as Element, scene.numbers.format(value));
      });
      draw();
    },
    destroy: () => watch.disconnect(),
  };
};

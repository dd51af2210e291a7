/** A table: its head stays in view, columns of numbers stand at the end by themselves, and it scrolls in its own box. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setItems, setText } from '../dom.js';
import type { PropsByType, Scalar } from '../../types.js';
import type { Builder } from '../scene.js';

export const table: Builder<PropsByType['Table']> = (scene) => {
  const head = el('tr');
  const body = el('tbody');
  const nothing = el('p', { class: 'nothing' }, scene.say('noRows'));
  const box = el('div', { class: 'scroll', role: 'group', tabindex: '0' }, el('table', {}, el('thead', {}, head), body));
  return {
    element: el('div', { class: 'tabular' }, box, nothing),
    update({ columns, rows }) {
      const read: Scalar[][] = rows.map((row) => columns.map(({ key }) => scene.read(row[key] as Scalar)));
      const aligned = columns.map(({ align }, at) => align ?? (read.length > 0 && read.every((row) => typeof row[at] === 'number') ? 'end' : 'start'));
      setAttribute(box, 'aria-label', scene.say('table', read.length, columns.length));
      setItems(head, columns, () => el('th', { scope: 'col', dir: 'auto' }), (cell, { label }, at) => {
        setText(cell, label);
        setAttribute(cell, 'data-align', aligned[at]);
      });
      setItems(body, read, () => el('tr'), (row, values) =>
        setItems(row, values, () => el('td', { dir: 'auto' }), (cell, value, at) => {
          setText(cell, scene.numbers.show(value, columns[at]?.decimals));
          setAttribute(cell, 'data-align', aligned[at]);
          setAttribute(cell, 'data-kind', typeof value);
        }),
      );
      nothing.hidden = read.length > 0;
    },
  };
};

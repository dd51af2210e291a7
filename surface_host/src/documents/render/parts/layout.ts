/** Boxes that arrange what stands in them. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setChildren, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

export const stack: Builder<PropsByType['Stack']> = () => {
  const element = el('div', { class: 'stack' });
  return {
    element,
    update({ direction, gap }) {
      setAttribute(element, 'data-direction', direction);
      setAttribute(element, 'data-gap', gap);
    },
    place: (children) => setChildren(element, children),
  };
};

export const grid: Builder<PropsByType['Grid']> = () => {
  const element = el('div', { class: 'grid' });
  return {
    element,
    update: ({ columns }) => setAttribute(element, 'data-columns', String(columns)),
    place: (children) => setChildren(element, children),
  };
};

export const card: Builder<PropsByType['Card']> = (scene, id) => {
  const title = el('p', { class: 'card-title', id: scene.name(id, 'title'), dir: 'auto' });
  const body = el('div', { class: 'stack' });
  const element = el('div', { class: 'card' }, title, body);
  return {
    element,
    update({ title: words }) {
      title.hidden = !words;
      setText(title, words ?? '');
      setAttribute(element, 'role', words ? 'group' : undefined);
      setAttribute(element, 'aria-labelledby', words ? title.id : undefined);
    },
    place: (children) => setChildren(body, children),
  };
};

export const divider: Builder<PropsByType['Divider']> = () => ({ element: el('hr'), update: () => undefined });

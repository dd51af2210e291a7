/** A list of entries: a first line each, and a quieter second one. */

import { el } from '../../../ui/dom.js';
import { setItems, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

export const list: Builder<PropsByType['List']> = (scene) => {
  const entries = el('ul', { class: 'list', role: 'list' });
  const nothing = el('p', { class: 'nothing' }, scene.say('noRows'));
  return {
    element: el('div', { class: 'listed' }, entries, nothing),
    update({ items }) {
      // Read first: a value that has none leaves what is on the page as it was.
      const read = items.map(({ primary, secondary }) => [scene.text(primary), secondary === undefined ? '' : scene.text(secondary)] as const);
      setItems(entries, read, createEntry, (entry, lines) =>
        lines.forEach((line, index) => {
          const element = entry.children[index] as HTMLElement;
          setText(element, line);
          element.hidden = line === '';
        }),
      );
      entries.hidden = read.length === 0;
      nothing.hidden = read.length > 0;
    },
  };
};

const createEntry = (): HTMLLIElement => el('li', {}, el('p', { class: 'primary', dir: 'auto' }), el('p', { class: 'secondary', dir: 'auto' }));

/** Plain words. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

export const text: Builder<PropsByType['Text']> = (scene) => {
  const element = el('p', { class: 'text', dir: 'auto' });
  return {
    element,
    update(props) {
      setText(element, scene.text(props.text));
      setAttribute(element, 'data-tone', props.tone);
    },
  };
};

/** The levels of a document begin below the page's own first one. */
export const heading: Builder<PropsByType['Heading']> = (scene) => {
  const element = el('div', { class: 'heading', role: 'heading', dir: 'auto' });
  return {
    element,
    update(props) {
      setText(element, scene.text(props.text));
      setAttribute(element, 'data-level', String(props.level));
      setAttribute(element, 'aria-level', String(props.level + 1));
    },
  };
};

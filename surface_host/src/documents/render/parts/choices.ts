/** Controls whose values are given: a list to pick from, and a box to tick. */

import { el } from '../../../ui/dom.js';
import { setItems, setText } from '../dom.js';
import type { PropsByType, Scalar } from '../../types.js';
import type { Builder } from '../scene.js';
import { createFrame } from './control.js';

export const select: Builder<PropsByType['Select']> = (scene, id) => {
  const control = el('select', { class: 'input' });
  const frame = createFrame(scene, id, () => control);
  const element = el('div', { class: 'field' }, frame.label, el('div', { class: 'box pick' }, control), frame.reason);
  let field = '';
  let values: readonly Scalar[] = [];

  const show = (): void => {
    const index = values.indexOf(scene.value(field));
    if (control.selectedIndex !== index) control.selectedIndex = index;
  };
  control.addEventListener('change', () => {
    const value = values[control.selectedIndex];
    if (value !== undefined) scene.write(field, value);
    show();
  });

  return {
    element,
    update(props) {
      field = props.field;
      values = props.options.map(({ value }) => value);
      // The value of an option in the page is only its place: the document's own is never turned into text.
      setItems(control, props.options, () => el('option'), (option, { label }, index) => {
        option.value = String(index);
        setText(option, label);
      });
      frame.sync(props.label);
      show();
    },
  };
};

export const checkbox: Builder<PropsByType['Checkbox']> = (scene, id) => {
  const control = el('input', { type: 'checkbox', class: 'tick' });
  const frame = createFrame(scene, id, () => control);
  let field = '';
  const show = (): void => {
    control.checked = scene.value(field) === true;
  };
  control.addEventListener('change', () => {
    scene.write(field, control.checked);
    show();
  });
  return {
    element: el('div', { class: 'field ticked' }, el('div', { class: 'tick-line' }, control, frame.label), frame.reason),
    update(props) {
      field = props.field;
      frame.sync(props.label);
      show();
    },
  };
};

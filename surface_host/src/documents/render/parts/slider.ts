/** A slider over the range of a number field. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';
import { createFrame } from './control.js';

export const slider: Builder<PropsByType['Slider']> = (scene, id) => {
  const control = el('input', { type: 'range', class: 'slider' });
  const frame = createFrame(scene, id, () => control);
  const figure = el('output', { for: scene.name(id, 'control'), class: 'figure', 'aria-hidden': 'true' });
  const ends = [el('span'), el('span')] as const;
  const element = el('div', { class: 'field' }, el('div', { class: 'field-head' }, frame.label, figure), control, el('div', { class: 'ends', 'aria-hidden': 'true' }, ...ends), frame.reason);
  let field = '';
  let decimals: number | undefined;

  const show = (): void => {
    const accepted = scene.value(field) as number;
    const { min, max } = control;
    if (Number(control.value) !== accepted) control.value = String(accepted);
    const words = scene.numbers.format(accepted, decimals);
    setText(figure, words);
    setAttribute(control, 'aria-valuetext', words);
    control.style.setProperty('--filled', `${((accepted - Number(min)) / (Number(max) - Number(min))) * 100}%`);
  };
  control.addEventListener('input', () => {
    scene.write(field, Number(control.value));
    show();
  });

  return {
    element,
    update(props) {
      field = props.field;
      const known = scene.field(field);
      const { min = 0, max = 100, step } = known.type === 'number' ? known : {};
      // The step decides how many decimals the figure keeps, so that it does not jump about.
      decimals = step === undefined ? undefined : Math.min((/\.(\d+)$/.exec(String(step))?.[1] ?? '').length, 6);
      for (const [name, value] of Object.entries({ min, max, step: step ?? 'any' })) setAttribute(control, name, String(value));
      setText(ends[0], scene.numbers.format(min));
      setText(ends[1], scene.numbers.format(max));
      frame.sync(props.label);
      show();
    },
  };
};

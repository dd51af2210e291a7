/** How things stand: notices, marks, progress and figures. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setText, svg } from '../dom.js';
import { Fault } from '../faults.js';
import type { PropsByType, Tone } from '../../types.js';
import type { Builder } from '../scene.js';

/** One stroke for each tone, on a field of 20 by 20. */
const SIGNS: { readonly [T in Tone]: string } = {
  info: 'M10 9v5M10 6v.2M10 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16',
  success: 'M6.5 10.2l2.5 2.4 4.6-5M10 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16',
  warning: 'M10 8v4M10 14.6v.2M10 2.6 18.2 17H1.8Z',
  danger: 'M7.2 7.2l5.6 5.6M12.8 7.2l-5.6 5.6M10 2a8 8 0 1 1 0 16 8 8 0 0 1 0-16',
};

export const alert: Builder<PropsByType['Alert']> = (scene) => {
  const stroke = svg('path');
  const tone = el('span', { class: 'aloud' });
  const words = el('span', { class: 'alert-text', dir: 'auto' });
  const element = el('div', { class: 'alert' }, svg('svg', { class: 'sign', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, stroke), el('p', {}, tone, words));
  return {
    element,
    update({ text, tone: wanted = 'info' }) {
      setAttribute(element, 'data-tone', wanted);
      setAttribute(element, 'role', wanted === 'danger' || wanted === 'warning' ? 'alert' : 'status');
      stroke.setAttribute('d', SIGNS[wanted]);
      setText(tone, `${scene.say(wanted)}: `);
      setText(words, scene.text(text));
    },
  };
};

export const badge: Builder<PropsByType['Badge']> = (scene) => {
  const element = el('span', { class: 'badge', dir: 'auto' });
  return {
    element,
    update({ text, tone }) {
      setText(element, scene.text(text));
      setAttribute(element, 'data-tone', tone);
    },
  };
};

export const progress: Builder<PropsByType['Progress']> = (scene, id) => {
  const label = el('span', { class: 'progress-label', id: scene.name(id, 'label'), dir: 'auto' });
  const figure = el('span', { class: 'figure' });
  const fill = el('div', { class: 'fill' });
  const bar = el('div', { class: 'bar', role: 'progressbar', 'aria-valuemin': '0' }, fill);
  const element = el('div', { class: 'progress' }, el('div', { class: 'progress-head' }, label, figure), bar);
  return {
    element,
    update(props) {
      const max = scene.number(props.max);
      if (!(max > 0)) throw new Fault('render.max_not_positive');
      const value = Math.min(Math.max(scene.number(props.value), 0), max);
      const share = scene.numbers.percent(value / max);
      setText(label, props.label ?? '');
      setText(figure, share);
      setAttribute(bar, 'aria-labelledby', props.label ? label.id : undefined);
      setAttribute(bar, 'aria-label', props.label ? undefined : share);
      setAttribute(bar, 'aria-valuenow', String(value));
      setAttribute(bar, 'aria-valuemax', String(max));
      setAttribute(bar, 'aria-valuetext', share);
      fill.style.inlineSize = `${(value / max) * 100}%`;
    },
  };
};

export const result: Builder<PropsByType['Result']> = (scene, id) => {
  const label = el('p', { class: 'result-label', id: scene.name(id, 'label'), dir: 'auto' });
  const value = el('span', { class: 'result-value' });
  const unit = el('span', { class: 'result-unit', dir: 'auto' });
  const output = el('output', { 'aria-labelledby': label.id }, value, ' ', unit);
  const element = el('div', { class: 'result' }, label, output);
  return {
    element,
    update(props) {
      const read = scene.read(props.value);
      setText(label, props.label);
      setText(value, scene.numbers.show(read, props.decimals));
      setAttribute(value, 'data-kind', typeof read);
      setText(unit, props.unit ?? '');
      unit.hidden = !props.unit;
    },
  };
};

/**
 * A box to type in.
 *
 * What is typed goes to the state with every stroke. What the state does not take stays in the box, marked and with the
 * reason beside it; the last accepted value keeps counting until then.
 */

import { el } from '../../../ui/dom.js';
import { setAttribute } from '../dom.js';
import type { PropsByType, Scalar } from '../../types.js';
import { parseNumber } from '../numbers.js';
import type { Builder } from '../scene.js';
import { createFrame, reasonOf } from './control.js';

type Kind = PropsByType['Input']['kind'];

const TYPES: { readonly [K in Kind]: { readonly tag: 'input' | 'textarea'; readonly attributes: Readonly<Record<string, string>> } } = {
  text: { tag: 'input', attributes: { type: 'text' } },
  multiline: { tag: 'textarea', attributes: { rows: '3' } },
  // Not `type=number`: its text is hidden from us where the browser cannot read it, and a scroll changes it.
  number: { tag: 'input', attributes: { type: 'text', inputmode: 'decimal' } },
  date: { tag: 'input', attributes: { type: 'date' } },
};

export const input: Builder<PropsByType['Input']> = (scene, id) => {
  let control: HTMLInputElement | HTMLTextAreaElement = el('input', { type: 'text' });
  const frame = createFrame(scene, id, () => control);
  const box = el('div', { class: 'box' }, control);
  const element = el('div', { class: 'field' }, frame.label, box, frame.reason);
  let props: PropsByType['Input'] | undefined;
  let kind: Kind | undefined;
  /** Why what is in the box does not count, and the accepted value it was refused beside. */
  let refusal: { readonly why: string; readonly beside: Scalar } | undefined;
  let rewrites = 0;
  /** An empty box is only said to be missing something once the person has been in it. */
  let isVisited = false;

  const wordsOf = (value: Scalar): string => String(value);
  const valueOf = (text: string): Scalar | undefined => (kind === 'number' ? parseNumber(text) : text);

  const problem = (): string | undefined => {
    if (refusal) return refusal.why;
    return isVisited && props?.required && control.value.trim() === '' ? scene.say('notFilled') : undefined;
  };
  const show = (): void => {
    if (props) frame.sync(props.label, { required: props.required, problem: problem() });
  };

  const take = (): void => {
    if (!props) return;
    const { field } = props;
    const beside = scene.value(field);
    const value = valueOf(control.value);
    refusal = undefined;
    let code: string | undefined;
    if (value === undefined || (control instanceof HTMLInputElement && control.validity?.badInput)) {
      refusal = { why: scene.say(kind === 'date' ? 'notDate' : control.value.trim() === '' ? 'notFilled' : 'notNumber'), beside };
    } else if ((code = scene.write(field, value)) !== undefined) {
      refusal = { why: reasonOf(scene, scene.field(field), value, code), beside };
    }
    show();
  };

  const listen = (): void => {
    control.addEventListener('input', take);
    control.addEventListener('blur', () => {
      isVisited = true;
      show();
    });
  };
  listen();

  const setKind = (wanted: Kind): void => {
    if (wanted === kind) return;
    kind = wanted;
    const { tag, attributes } = TYPES[wanted];
    control = el(tag, { ...attributes, class: 'input', dir: 'auto', autocomplete: 'off' });
    box.replaceChildren(control);
    refusal = undefined;
    listen();
  };

  return {
    element,
    update(next) {
      props = next;
      setKind(next.kind);
      setAttribute(control, 'placeholder', next.placeholder);
      const accepted = scene.value(next.field);
      // An action of the document that writes the field takes the box along, whatever is in it.
      if (rewrites !== scene.rewrites(next.field)) isVisited = false;
      if (refusal && (refusal.beside !== accepted || rewrites !== scene.rewrites(next.field))) refusal = undefined;
      rewrites = scene.rewrites(next.field);
      // The text may be another spelling of the same value: `1.50`. It is the person's, and stays.
      if (!refusal && valueOf(control.value) !== accepted) control.value = wordsOf(accepted);
      show();
    },
    refused(isSubmitted) {
      isVisited ||= isSubmitted;
      show();
      return refusal || (isSubmitted && problem() !== undefined) ? control : undefined;
    },
  };
};

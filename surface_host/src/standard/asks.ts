/**
 * The components that ask: choice, confirm, input. Native controls in a form that leaves the page nowhere.
 *
 * Only a person's own gesture answers, and while an answer is under way there is no second one.
 */

import type { PanelAnswer } from '../protocol/panel.js';
import { button, el } from '../ui/dom.js';
import { detailOf, flagAt, numberAt, textAt, words, type Content, type Say } from './content.js';

export type Answer = (answer: PanelAnswer) => void;

/** A question as it stands: its element, and what can be done with it from outside. */
export interface Asking {
  readonly element: HTMLElement;
  /** Says something about the answer, and lets the person try again if they may. */
  said(words: string, mayRetry: boolean): void;
}

/** What the controls hold: an answer, or the words for what is missing. */
type Read = () => PanelAnswer | string;

let count = 0;

const legendOf = (content: Content): HTMLElement => el('legend', {}, words(textAt(content, 'question')));

function asked(content: Content, controls: HTMLElement, buttons: readonly (readonly [string, string, Read])[], say: Say, answer: Answer): Asking {
  const note = el('p', { class: 'note dim', role: 'status' });
  const foot = el('div', { class: 'foot' });
  const fields = el('fieldset', {}, legendOf(content), detailOf(content), controls, foot);
  const element = el('form', { novalidate: true }, fields, note);
  element.addEventListener('submit', (event) => event.preventDefault());
  const press = (read: Read): void => {
    const found = read();
    note.classList.toggle('bad', typeof found === 'string');
    if (typeof found === 'string') {
      note.textContent = found;
      return;
    }
    fields.disabled = true;
    note.textContent = say('sending');
    answer(found);
  };
  for (const [label, className, read] of buttons) {
    const made = button(label, className, () => press(read));
    // Enter in a field presses it; the click that makes is the person's own.
    if (buttons.length === 1) made.type = 'submit';
    foot.append(made);
  }
  return {
    element,
    said(text, mayRetry) {
      fields.disabled = !mayRetry;
      note.classList.add('bad');
      note.textContent = text;
    },
  };
}

interface Option {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

function optionsOf(content: Content): Option[] {
  const { options } = content;
  if (!Array.isArray(options)) return [];
  return options
    .filter((option): option is Content => typeof option === 'object' && option !== null)
    .map((option) => ({ value: textAt(option, 'value'), label: textAt(option, 'label'), description: textAt(option, 'description') }));
}

export function choice(content: Content, say: Say, answer: Answer): Asking {
  const options = optionsOf(content);
  const isMultiple = flagAt(content, 'multiple');
  const least = isMultiple ? (numberAt(content, 'min') ?? 0) : 1;
  const most = isMultiple ? (numberAt(content, 'max') ?? options.length) : 1;
  const name = `choice-${++count}`;
  const boxes = options.map(() => el('input', { type: isMultiple ? 'checkbox' : 'radio', name }));
  const list = options.map(({ label, description }, index) => {
    const more = description === '' ? undefined : el('span', { class: 'dim more' }, words(description));
    return el('label', { class: 'option' }, boxes[index], el('span', {}, words(label), more));
  });
  const wanted = !isMultiple ? say('pickOne') : least === most ? say('pickExactly', least) : least === 0 ? say('pickAtMost', most) : say('pickSome', least, most);
  const read: Read = () => {
    const values = options.filter((_, index) => boxes[index]?.checked).map(({ value }) => value);
    return values.length < least || values.length > most ? wanted : { values };
  };
  const hint = isMultiple && (least > 0 || most < options.length) ? el('p', { class: 'dim' }, wanted) : undefined;
  return asked(content, el('div', { class: 'options' }, hint, ...list), [[say('answer'), 'primary', read]], say, answer);
}

export function confirm(content: Content, say: Say, answer: Answer): Asking {
  return asked(
    content,
    el('div', {}),
    [
      [say('no'), '', () => ({ confirmed: false })],
      [say('yes'), '', () => ({ confirmed: true })],
    ],
    say,
    answer,
  );
}

const TYPES = { text: 'text', multiline: 'multiline', number: 'number', date: 'date' } as const;

export function input(content: Content, say: Say, answer: Answer): Asking {
  const named = textAt(content, 'kind');
  const kind = Object.hasOwn(TYPES, named) ? (named as keyof typeof TYPES) : 'text';
  const isRequired = flagAt(content, 'required');
  const common = {
    'aria-label': say('yourAnswer'),
    placeholder: textAt(content, 'placeholder'),
    maxlength: String(numberAt(content, 'max_length') ?? 4096),
    autocomplete: 'off',
    required: isRequired,
  };
  const control = kind === 'multiline' ? el('textarea', { ...common, rows: '4' }) : el('input', { ...common, type: kind, step: kind === 'number' ? 'any' : undefined });
  const read: Read = () => {
    // What cannot be read as a number or a date has no value at all.
    if (control.validity.badInput) return say(kind === 'date' ? 'aDate' : 'aNumber');
    const { value } = control;
    if (kind === 'number') return value === '' || !Number.isFinite(Number(value)) ? say('aNumber') : { value: Number(value) };
    return isRequired && value.trim() === '' ? say('write') : { value };
  };
  const controls = el('div', { class: 'field' }, control);
  return asked(content, controls, [[say('answer'), 'primary', read]], say, answer);
}

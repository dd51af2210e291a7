/** What all controls have in common: a label, and the reason why the state did not take what is in them. */

import { el } from '../../../ui/dom.js';
import { LIMITS } from '../../table.js';
import { setAttribute, setText } from '../dom.js';
import type { Field, Scalar } from '../../types.js';
import type { Scene } from '../scene.js';

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

export interface Frame {
  readonly label: HTMLLabelElement;
  readonly reason: HTMLElement;
  /** Names the control and says whether what is in it counts. */
  sync(words: string, options?: { readonly required?: boolean | undefined; readonly problem?: string | undefined }): void;
}

export function createFrame(scene: Scene, id: string, control: () => Control): Frame {
  const name = scene.name(id, 'control');
  const words = el('span', { dir: 'auto' });
  const star = el('span', { class: 'star', 'aria-hidden': 'true' }, ' *');
  const label = el('label', { for: name }, words, star);
  const reason = el('p', { class: 'reason', id: scene.name(id, 'reason'), 'aria-live': 'polite' });
  return {
    label,
    reason,
    sync(text, { required = false, problem } = {}) {
      const element = control();
      element.id = name;
      setText(words, text);
      star.hidden = !required;
      setAttribute(element, 'aria-required', required && 'true');
      setText(reason, problem ?? '');
      setAttribute(element, 'aria-invalid', problem === undefined ? undefined : 'true');
      setAttribute(element, 'aria-describedby', problem === undefined ? undefined : reason.id);
    },
  };
}

/** Why `field` did not take `value`, in words; the state decided it, for `code`. */
export function reasonOf({ say, numbers }: Scene, field: Field, value: Scalar, code: string): string {
  if (code === 'document.state_too_large') return say('noRoom');
  if (field.type === 'string' && typeof value === 'string') {
    const { maxLength = LIMITS.scalar } = field;
    if (value.length > maxLength) return say('notThatLong', numbers.format(maxLength), numbers.format(value.length));
  }
  if (field.type !== 'number' || typeof value !== 'number') return say('notTaken');
  const { min, max, step } = field;
  const isOut = (min !== undefined && value < min) || (max !== undefined && value > max);
  if (isOut && min !== undefined && max !== undefined) return say('notBetween', numbers.format(min), numbers.format(max));
  if (isOut) return min === undefined ? say('notAtMost', numbers.format(max as number)) : say('notAtLeast', numbers.format(min));
  return step === undefined ? say('notTaken') : say('notStep', numbers.format(step), numbers.format(min ?? 0));
}

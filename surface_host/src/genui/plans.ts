/** `action-group`: prop `plans`; tells `adopt(planId)` when one is adopted. What that does is for the page to say. */

import { define, GenuiCard, textOf, words } from './base.js';
import { el } from '../ui/dom.js';
import { isObject } from './schema.js';
import css from './plans.css?inline';

/** One plan a person may adopt. */
export interface GenuiPlan {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
}

/** The plans of `value`; what has no id is none. */
function plansOf(value: unknown): GenuiPlan[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isObject)
    .map((plan: { id?: unknown; title?: unknown; summary?: unknown }) => ({ id: textOf(plan.id), title: textOf(plan.title), summary: textOf(plan.summary) }))
    .filter(({ id }) => id !== '');
}

class OstiaryActionGroup extends GenuiCard {
  private readonly list = el('ul', { role: 'list' });
  private readonly none = el('p', { class: 'dim' });

  constructor() {
    super(css);
    this.draw(this.list, this.none);
  }

  protected render(props: Readonly<Record<string, unknown>>): void {
    const plans = plansOf(props.plans);
    const focused = this.root.activeElement?.getAttribute('data-plan');
    this.list.hidden = plans.length === 0;
    this.none.hidden = plans.length > 0;
    this.none.textContent = this.say('noPlans');
    this.list.replaceChildren(...plans.map((plan) => this.item(plan)));
    // A fresh list must not throw a keyboard user out of it.
    if (typeof focused === 'string') this.list.querySelector<HTMLElement>(`[data-plan="${CSS.escape(focused)}"]`)?.focus();
  }

  private item({ id, title, summary }: GenuiPlan): HTMLElement {
    const adopt = el('button', { type: 'button', 'data-plan': id, 'aria-label': this.say('adoptPlan', title || id) }, this.say('adopt'));
    adopt.addEventListener('click', () => this.emit('adopt', id));
    return el('li', {}, el('div', { class: 'plan' }, el('p', { class: 'title' }, words(title || id)), el('p', { class: 'dim' }, words(summary))), adopt);
  }
}

export const ActionGroup = define('ostiary-action-group', OstiaryActionGroup);

/** What the elements here share: one root, two sheets, and events that leave every root. */

import { dress, el, type Child } from '../ui/dom.js';
import { sayFrom } from '../ui/words.js';
import type { GenuiElement } from './registry.js';
import baseCss from './genui.css?inline';
import { en, zh, type GenuiMessages } from './messages.js';

/** An element of ours with an open root, dressed in the theme and `css`. */
export abstract class Dressed extends HTMLElement {
  protected readonly root = this.attachShadow({ mode: 'open' });

  constructor(css: string) {
    super();
    dress(this.root, baseCss, css);
  }

  /** The words in the language that is nearest. */
  protected say(key: keyof GenuiMessages, ...values: (string | number)[]): string {
    const lang = this.closest('[lang]')?.getAttribute('lang') ?? undefined;
    return sayFrom({ en, zh }, lang, undefined)(key, ...values);
  }

  protected draw(...children: Child[]): void {
    this.root.replaceChildren(...children.filter((child) => typeof child === 'string' || child instanceof Node));
  }
}

/** A component of the registry: draws its props anew whenever they are set. */
export abstract class GenuiCard extends Dressed implements GenuiElement {
  private given: Readonly<Record<string, unknown>> = {};

  get props(): Readonly<Record<string, unknown>> {
    return this.given;
  }

  set props(props: Readonly<Record<string, unknown>>) {
    this.given = props;
    this.render(props);
  }

  connectedCallback(): void {
    this.render(this.given);
  }

  protected abstract render(props: Readonly<Record<string, unknown>>): void;

  protected emit(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** A text, or a number that was a text before it was narrowed; else the empty text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '');

/** Foreign text, isolated from its surroundings. */
export const words = (text: string): HTMLElement => el('bdi', { dir: 'auto' }, text);

/** Defines `component` unless another copy of this module was first; whoever was first is the one. */
export function define<T extends CustomElementConstructor>(name: string, component: T): T {
  const existing = customElements.get(name) as T | undefined;
  if (!existing) customElements.define(name, component);
  return existing ?? component;
}

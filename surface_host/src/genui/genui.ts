/** `<ostiary-genui>`: judge, look up, sanitise, draw; and where one of these fails, the fallback (seed 001). */

import { define, Dressed } from './base.js';
import { el } from '../ui/dom.js';
import { resolveGenuiComponent, watchGenuiComponents, type GenuiElement } from './registry.js';
import { sanitizeGenuiProps } from './sanitise.js';
import { isUISchema, own, type UISchema } from './schema.js';
import hintCss from './hint.css?inline';

/** Why nothing was drawn. Also the `reason` attribute, for a page that styles by it. */
export type FallbackReason = 'illegal' | 'unregistered' | 'broken';

/**
 * Draws `schema`. What stands in `slot="fallback"` is shown where it cannot be, and a quiet hint where nothing stands there.
 * Events of the component are heard on this element.
 */
export class OstiaryGenui extends Dressed {
  private given: unknown;
  private drawn: { readonly type: string; readonly component: unknown; readonly element: GenuiElement } | undefined;
  private readonly stage = el('div', { class: 'stage' });
  private readonly why = el('p', { class: 'hint dim' });
  private readonly fallback = el('slot', { name: 'fallback' }, this.why);
  private readonly passed = new Set<string>();
  private stop: (() => void) | undefined;

  constructor() {
    super(hintCss);
    this.root.append(this.stage);
  }

  get schema(): unknown {
    return this.given;
  }

  set schema(schema: unknown) {
    this.given = schema;
    this.update();
  }

  /** Why nothing is drawn; null while something is. */
  get reason(): FallbackReason | null {
    return this.getAttribute('reason') as FallbackReason | null;
  }

  /** The same in words; empty while something is drawn. */
  get hint(): string {
    return this.reason === null ? '' : this.why.textContent;
  }

  connectedCallback(): void {
    this.stop ??= watchGenuiComponents(() => this.update());
    this.update();
  }

  disconnectedCallback(): void {
    this.stop?.();
    this.stop = undefined;
  }

  /** Whatever a component sends is heard here, also what would not leave its root. */
  override addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(type, listener, options);
    if (this.passed.has(type)) return;
    this.passed.add(type);
    const pass = (event: Event): void => {
      if (event instanceof CustomEvent && !(event.bubbles && event.composed)) this.dispatchEvent(new CustomEvent(type, { detail: event.detail as unknown }));
    };
    this.stage.addEventListener(type, pass, { capture: true });
  }

  private update(): void {
    const schema = this.given;
    if (!isUISchema(schema)) return this.fallBack('illegal');
    const type = own(schema, 'type') as string;
    const component = resolveGenuiComponent(type);
    if (!component) return this.fallBack('unregistered', type);
    try {
      this.show(schema, type, component);
    } catch {
      // What a component throws may hold what it was given; that is for nobody's log.
      console.error(`ostiary-genui: component \`${type}\` failed`);
      this.fallBack('broken', type);
    }
  }

  private show(schema: UISchema, type: string, component: new () => GenuiElement): void {
    // The same component keeps its element: focus and what a person did in it outlive new props.
    const element = this.drawn?.type === type && this.drawn.component === component ? this.drawn.element : new component();
    element.props = Object.freeze(sanitizeGenuiProps(own(schema, 'props')));
    this.removeAttribute('reason');
    this.fallback.remove();
    if (this.drawn?.element !== element) this.stage.replaceChildren(element);
    this.drawn = { type, component, element };
  }

  private fallBack(reason: FallbackReason, type = ''): void {
    this.drawn = undefined;
    this.stage.replaceChildren();
    this.why.textContent = this.say(reason, type.length > 80 ? `${type.slice(0, 80)}…` : type);
    this.setAttribute('reason', reason);
    if (!this.fallback.isConnected) this.root.append(this.fallback);
  }
}

export const GenuiRenderer = define('ostiary-genui', OstiaryGenui);

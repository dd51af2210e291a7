/** `<ostiary-message>`: one message with what its tool calls look like before its text (seed 001, rules I2). */

import { define, Dressed, words } from './base.js';
import { el } from '../ui/dom.js';
import './genui.js';
import type { OstiaryGenui } from './genui.js';
import { isObject, own } from './schema.js';
import css from './message.css?inline';

/** One tool call of a message. `calling` is under way; only of a `completed` one the result is looked at. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly status: 'calling' | 'completed' | (string & {});
  readonly result?: unknown;
}

const STATUSES = { calling: 'status_calling', completed: 'status_completed', failed: 'status_failed' } as const;

/** Shows `content`, or what stands inside the element. Without `toolCalls` it is that text and nothing else. */
class OstiaryMessage extends Dressed {
  private calls: readonly ToolCall[] | undefined;
  private readonly above = el('section', { class: 'stack' });
  private readonly text = el('span', { class: 'text' });
  private readonly entries = new Map<string, { readonly key: string; readonly element: HTMLElement }>();

  constructor() {
    super(css);
    this.draw(el('div', {}, el('slot', {}, this.text)));
  }

  get content(): string {
    return this.text.textContent;
  }

  set content(text: string) {
    this.text.replaceChildren(words(String(text)));
  }

  get toolCalls(): readonly ToolCall[] | undefined {
    return this.calls;
  }

  set toolCalls(calls: readonly ToolCall[] | undefined) {
    this.calls = Array.isArray(calls) ? calls.filter((call: unknown): call is ToolCall => isObject(call)) : undefined;
    this.update();
  }

  private update(): void {
    if (!this.calls?.length) {
      this.entries.clear();
      this.above.remove();
      return;
    }
    this.above.setAttribute('aria-label', this.say('calls'));
    const wanted = this.calls.map((call, index) => this.entry(call, String(call.id ?? index)));
    for (const id of [...this.entries.keys()]) if (!this.calls.some((call, index) => String(call.id ?? index) === id)) this.entries.delete(id);
    for (const [index, element] of wanted.entries()) if (this.above.children[index] !== element) this.above.insertBefore(element, this.above.children[index] ?? null);
    while (this.above.children.length > wanted.length) this.above.lastElementChild?.remove();
    if (!this.above.isConnected) this.root.prepend(this.above);
  }

  /** An entry is drawn anew only when its call became something else: a component keeps what a person did in it. */
  private entry(call: ToolCall, id: string): HTMLElement {
    const drawn = this.entries.get(id);
    const ui = call.status === 'completed' && isObject(call.result) ? own(call.result, 'ui') : undefined;
    const key = ui === undefined ? `${call.status}` : 'ui';
    if (drawn?.key === key && ui !== undefined) {
      (drawn.element as OstiaryGenui).schema = ui;
      return drawn.element;
    }
    const element = call.status === 'calling' ? this.loading(call) : ui === undefined ? this.panel(call) : this.drawing(call, ui);
    this.entries.set(id, { key, element });
    return element;
  }

  private loading(call: ToolCall): HTMLElement {
    return el('p', { class: 'call loading', role: 'status', 'aria-busy': 'true' }, el('span', { class: 'spinner', 'aria-hidden': 'true' }), this.say('running', String(call.name)));
  }

  private drawing(call: ToolCall, ui: unknown): HTMLElement {
    const genui = document.createElement('ostiary-genui') as OstiaryGenui;
    const panel = this.panel(call);
    panel.slot = 'fallback';
    genui.append(panel);
    genui.schema = ui;
    // Why it is a panel and no picture stands in it, in the renderer's words.
    const why = genui.hint;
    if (why !== '') panel.append(el('p', { class: 'hint dim' }, why));
    return genui;
  }

  private panel(call: ToolCall): HTMLElement {
    const status = STATUSES[call.status as keyof typeof STATUSES];
    return el(
      'details',
      { class: 'call' },
      el('summary', {}, words(String(call.name)), el('span', { class: 'dim' }, ` · ${status ? this.say(status) : String(call.status)}`)),
      el('pre', { tabindex: '0', 'aria-label': this.say('details') }, textOfResult(call.result) ?? this.say('noResult')),
    );
  }
}

/** A result as text; what JSON cannot say is no result. */
function textOfResult(result: unknown): string | undefined {
  try {
    return JSON.stringify(result, undefined, 2);
  } catch {
    return undefined;
  }
}

export const MessageContent = define('ostiary-message', OstiaryMessage);

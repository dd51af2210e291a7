/**
 * One document on the page: its state, its nodes and what leaves it.
 *
 * The document was judged before it comes here. Nothing in it becomes code, an address or an attribute's name: every
 * element is made by a component of ours, and the document's words are only ever text (design §12).
 */

import { dress, el } from '../../ui/dom.js';
import { sayFrom } from '../../ui/words.js';
import type { Change, engine } from '../engine.js';
import { setAttribute, setText } from './dom.js';
import { codeOf } from './faults.js';
import { keepFocus } from './focus.js';
import { en, zh, type RenderMessages } from './messages.js';
import type { Expr, Field, Scalar, State, UIDocument } from '../types.js';
import { createNumbers } from './numbers.js';
import { createRequests, type Dispatch } from './requests.js';
import type { Scene } from './scene.js';
import { SHEETS } from './styles/index.js';
import { createTree, type Tree } from './tree.js';

/** How far the writing of a document has come. Only a complete one lets an action leave the page. */
export type Phase = 'streaming' | 'complete' | 'cancelled';

/** What the renderer needs of the language; it comes from the file beside this one, which judged the document. */
export type Engine = typeof engine;

export interface MountOptions {
  readonly engine: Engine;
  readonly dispatch: Dispatch;
  readonly newId: () => string;
  /** Language of our words and form of the numbers; default: the page's. */
  readonly locale?: string | undefined;
  readonly messages?: Partial<RenderMessages> | undefined;
  readonly mode?: ShadowRootMode | undefined;
  readonly phase?: Phase | undefined;
  /** Code and node id of what could not be shown; never a value. */
  readonly log?: ((code: string, node: string | undefined) => void) | undefined;
}

export interface DocumentView {
  /** The `<ostiary-document>`. */
  readonly element: HTMLElement;
  /** The accepted values. */
  readonly state: State;
  /** Shows another snapshot of the same document; what a person typed and where they are stays. */
  show(document: UIDocument, phase: Phase): void;
  /** Takes the document away. */
  destroy(): void;
}

/** Whether a person did it. A page's script can make any event, but not one a browser vouches for. */
const isPersons = ({ isTrusted }: Event): boolean => isTrusted;

/** A locale the browser can read; a page's setting may be anything. */
function localeOf(wanted: string | undefined): string | undefined {
  try {
    return Intl.getCanonicalLocales(wanted)[0];
  } catch {
    return undefined;
  }
}

/** Puts `document` into `target`; undefined stands for one that is still to come. */
export function mountDocument(target: ParentNode & Node, first: UIDocument | undefined, options: MountOptions): DocumentView {
  const { engine, newId, log = (code, node) => console.warn('ostiary-document', code, node) } = options;
  const say = sayFrom({ en, zh }, options.locale, options.messages);
  const element = document.createElement('ostiary-document');
  const root = element.attachShadow({ mode: options.mode ?? 'closed' });
  dress(root, ...SHEETS);
  const home = el('div', { class: 'document', role: 'group', tabindex: '-1' });
  const note = el('p', { class: 'phase', role: 'status' });
  const fault = el('p', { class: 'fault', hidden: true });
  const body = el('div', { class: 'body' });
  home.append(body, fault, note);
  root.append(home);

  let shown: UIDocument | undefined;
  let phase: Phase = options.phase ?? 'complete';
  let state: State = {};
  const rewrites = new Map<string, number>();
  /** The value of an expression in `state`. */
  let valueOf: (expression: Expr) => Scalar = (expression) => String(expression);

  const requests = createRequests({
    dispatch: options.dispatch,
    newId,
    onChange: () => sync(),
    onAnswer(actionId, { ok, result }) {
      const action = shown?.actions?.[actionId];
      if (ok && result && action?.type === 'invoke') rewrite(undefined, Object.keys(action.resultMap ?? {}), (document) => engine.accept(document, state, actionId, result));
    },
  });

  const scene: Scene = {
    say,
    numbers: createNumbers(localeOf(options.locale) ?? say('lang'), { yes: say('yes'), no: say('no') }),
    read: (value) => valueOf(value),
    text: (value) => String(valueOf(value)),
    number: (value) => Number(valueOf(value)),
    flag: (value) => valueOf(value) === true,
    field: (id) => shown?.state?.[id] as Field,
    value: (id) => state[id] as Scalar,
    write: (field, value) => change((document) => engine.write(document, state, field, value)),
    action(id) {
      if (shown?.actions?.[id]?.type !== 'invoke') return 'ready';
      return phase === 'complete' ? requests.state(id) : 'closed';
    },
    rewrites: (field) => rewrites.get(field) ?? 0,
    press(id, gesture, from, isSubmit) {
      const action = shown?.actions?.[id];
      if (!action) return;
      const form = isSubmit ? from : undefined;
      if (action.type === 'invoke') {
        // What is sent is what is accepted; so nothing leaves while the person sees something else in a box.
        if (isPersons(gesture) && phase === 'complete' && !tree.visitRefused(form)) requests.begin(id, state);
        return;
      }
      if (isSubmit && tree.visitRefused(form)) return;
      const fields = action.type === 'set' ? [action.field] : (action.fields ?? Object.keys(state));
      rewrite(from, fields, (document) => engine.act(document, state, id));
    },
    again(id, gesture) {
      if (isPersons(gesture) && phase === 'complete') requests.again(id);
    },
    name: (id, part) => `${id}:${part}`,
  };
  const tree: Tree = createTree(scene, body, log);

  /** Puts another state in place of this one; the code of why not. */
  function change(next: (document: UIDocument) => Change): string | undefined {
    if (!shown) return undefined;
    const changed = next(shown);
    if (!changed.ok) return changed.code;
    state = changed.state;
    sync();
    return undefined;
  }

  /** A change by the document's own action, which boxes with other words in them follow. */
  function rewrite(from: string | undefined, fields: readonly string[], next: (document: UIDocument) => Change): void {
    for (const field of fields) rewrites.set(field, (rewrites.get(field) ?? 0) + 1);
    const code = change(next);
    if (code === undefined) return;
    for (const field of fields) rewrites.set(field, (rewrites.get(field) ?? 1) - 1);
    log(code, from);
  }

  function sync(): void {
    if (!shown) return;
    const { root: top, title } = shown;
    valueOf = engine.evaluate(shown, state);
    keepFocus(root, home, () => {
      try {
        tree.sync(top);
        fault.hidden = true;
      } catch (error) {
        fault.hidden = false;
        setText(fault, `${say('cannotShowAll')} (${codeOf(error)})`);
        log(codeOf(error), undefined);
      }
      body.hidden = !fault.hidden;
    });
    setAttribute(home, 'aria-label', title);
    setAttribute(home, 'data-phase', phase);
    setText(note, phase === 'complete' ? '' : say(phase));
  }

  const show = (next: UIDocument, nextPhase: Phase): void => {
    state = shown ? engine.carry(next, state) : engine.initial(next);
    shown = next;
    phase = nextPhase;
    sync();
  };

  if (first) show(first, phase);
  else {
    setAttribute(home, 'data-phase', 'generating');
    setText(note, say('generating'));
  }
  target.append(element);

  return {
    element,
    get state() {
      return state;
    },
    show,
    destroy() {
      requests.abandon();
      tree.destroy();
      element.remove();
    },
  };
}

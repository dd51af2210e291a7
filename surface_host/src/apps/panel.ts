/**
 * The place where mini app frames are: name, way back and close above, the frames below, and around all of it a border that
 * is the host's. Nothing a frame shows can look like it.
 */

import { button, el, foreign } from '../ui/dom.js';
import type { Instances } from './instances.js';
import type { WorkspaceMessages } from './messages.js';
import type { SayOf } from '../ui/words.js';

export interface PanelOptions {
  readonly say: SayOf<WorkspaceMessages>;
  readonly instances: Instances;
  readonly onSelect: (instance: string) => void;
  readonly onLeave: () => void;
  readonly onClose: (instance: string) => void;
}

export interface Panel {
  readonly element: HTMLElement;
  /** Puts a frame in; there it stays until it is taken out. */
  place(instance: string, frame: HTMLIFrameElement): void;
  /** The height a frame asked for. */
  setHeight(instance: string, height: number): void;
  sync(): void;
  /** Where a person who asked for it finds themselves. */
  focus(): void;
  frameOf(instance: string): HTMLElement | undefined;
}

export function createPanel({ say, instances, onSelect, onLeave, onClose }: PanelOptions): Panel {
  const frames = new Map<string, HTMLIFrameElement>();
  const heights = new Map<string, number>();

  const back = button(say('back'), 'back', onLeave);
  const title = el('h2', { tabindex: '-1', id: 'title' });
  const close = button('', 'close', () => instances.front !== undefined && onClose(instances.front));
  close.append(el('span', { 'aria-hidden': 'true' }, '×'));
  const badge = el('span', { class: 'badge' }, say('generated'));
  const head = el('header', {}, back, title, badge, close);
  const others = el('ul', {});
  const nav = el('nav', { 'aria-label': say('others') }, others);
  const stage = el('div', { class: 'stage' });
  const loading = el('p', { class: 'dim', role: 'status' });
  const empty = el('p', { class: 'dim empty' });
  const mark = el('footer', { class: 'dim' });
  const element = el('section', { class: 'panel', 'aria-label': say('workspace') }, head, nav, empty, loading, stage, mark);

  const nameOf = (instance: string): string => instances.get(instance)?.open.title ?? '';

  const drawHead = (front: string | undefined): void => {
    head.hidden = front === undefined;
    if (front === undefined) return;
    const name = nameOf(front);
    badge.hidden = !instances.get(front)?.open.sent;
    title.replaceChildren(foreign(name));
    back.setAttribute('aria-label', say('backFrom', name));
    close.setAttribute('aria-label', say('closeApp', name));
  };

  const drawOthers = (front: string | undefined): void => {
    const rest = instances.all().filter(({ open }) => open.instance !== front);
    const focused = others.querySelector<HTMLElement>(':focus')?.dataset.instance;
    nav.hidden = rest.length === 0;
    others.replaceChildren(
      ...rest.map(({ open: { instance, title: name } }) => {
        const pick = button('', 'pick', () => onSelect(instance));
        pick.dataset.instance = instance;
        pick.append(foreign(name));
        const end = button('', 'close', () => onClose(instance));
        end.append(el('span', { 'aria-hidden': 'true' }, '×'));
        end.setAttribute('aria-label', say('closeApp', name));
        return el('li', {}, pick, end);
      }),
    );
    // A fresh list must not throw a keyboard user out of it.
    if (focused !== undefined) others.querySelector<HTMLElement>(`[data-instance="${CSS.escape(focused)}"]`)?.focus();
  };

  const drawStage = (front: string | undefined): void => {
    stage.hidden = front === undefined;
    for (const [instance, frame] of frames) {
      const isFront = instance === front;
      frame.classList.toggle('front', isFront);
      frame.inert = !isFront;
    }
    const height = front === undefined ? undefined : heights.get(front);
    stage.style.setProperty('--frame-height', height === undefined ? '' : `${height}px`);
  };

  return {
    element,
    place(instance, frame) {
      frames.get(instance)?.remove();
      frames.set(instance, frame);
      stage.append(frame);
      this.sync();
    },
    setHeight(instance, height) {
      heights.set(instance, height);
      if (instance === instances.front) stage.style.setProperty('--frame-height', `${height}px`);
    },
    sync() {
      const { front } = instances;
      const shown = front === undefined ? undefined : instances.get(front);
      for (const [instance, frame] of frames) {
        if (instances.get(instance) && frame.isConnected) continue;
        frames.delete(instance);
        heights.delete(instance);
      }
      drawHead(front);
      drawOthers(front);
      drawStage(front);
      loading.textContent = shown && !shown.isOpen ? say('isLoading') : '';
      empty.hidden = front !== undefined;
      empty.textContent = say(instances.all().length ? 'pickOne' : 'nothing');
      mark.hidden = !shown;
      element.classList.toggle('generated', shown?.open.sent !== undefined);
      const maker = shown?.open.sent ? [`${say('isolated')} · ${say('madeBy')} `, foreign(shown.open.sent.agent), ' · '] : [`${say('isolated')} · `];
      mark.replaceChildren(...maker, foreign(shown ? `${shown.open.app} ${shown.open.version}` : ''));
    },
    focus: () => title.focus({ preventScroll: true }),
    frameOf: (instance) => frames.get(instance),
  };
}

/** Tabs: one stop for the Tab key, arrows between them; which one is open is the person's, and outlasts every patch. */

import { el } from '../../../ui/dom.js';
import { setAttribute, setChildren, setItems, setText } from '../dom.js';
import type { PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';

type Tab = PropsByType['Tabs']['tabs'][number];

export const tabs: Builder<PropsByType['Tabs']> = (scene, id) => {
  const bar = el('div', { class: 'tabs', role: 'tablist' });
  const panels = el('div', { class: 'panels' });
  const element = el('div', { class: 'tabbed' }, bar, panels);
  let shown: readonly Tab[] = [];
  let open: string | undefined;

  const sync = (): void => {
    // The tab a person had open may be gone with a patch.
    if (!shown.some((tab) => tab.id === open)) open = shown[0]?.id;
    setItems(bar, shown, createTab, (tab, item) => {
      const isOpen = item.id === open;
      tab.id = scene.name(id, `tab-${item.id}`);
      setText(tab, item.label);
      setAttribute(tab, 'aria-selected', String(isOpen));
      setAttribute(tab, 'aria-controls', scene.name(id, `panel-${item.id}`));
      tab.tabIndex = isOpen ? 0 : -1;
    });
    setItems(panels, shown, () => el('div', { class: 'panel', role: 'tabpanel', tabindex: '0' }), (panel, item) => {
      panel.id = scene.name(id, `panel-${item.id}`);
      setAttribute(panel, 'aria-labelledby', scene.name(id, `tab-${item.id}`));
      panel.hidden = item.id !== open;
    });
  };

  const choose = (index: number, focus: boolean): void => {
    open = shown[index]?.id;
    sync();
    if (focus) (bar.children[index] as HTMLElement | undefined)?.focus();
  };

  function createTab(): HTMLButtonElement {
    const tab = el('button', { type: 'button', class: 'tab', role: 'tab', dir: 'auto' });
    tab.addEventListener('click', () => choose([...bar.children].indexOf(tab), false));
    return tab;
  }

  bar.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const last = shown.length - 1;
    const at = shown.findIndex((tab) => tab.id === open);
    const isRightToLeft = getComputedStyle(bar).direction === 'rtl';
    const forth = at === last ? 0 : at + 1;
    const back = at === 0 ? last : at - 1;
    const goes: Readonly<Record<string, number>> = {
      ArrowRight: isRightToLeft ? back : forth,
      ArrowLeft: isRightToLeft ? forth : back,
      Home: 0,
      End: last,
    };
    const next = Object.hasOwn(goes, event.key) ? goes[event.key] : undefined;
    if (next === undefined) return;
    event.preventDefault();
    choose(next, true);
  });

  return {
    element,
    update(props) {
      shown = props.tabs;
      sync();
    },
    // One child for each tab, judged before.
    place: (children) => shown.forEach((_, index) => setChildren(panels.children[index] as Element, children.slice(index, index + 1))),
    reveal: (index) => choose(index, false),
  };
};

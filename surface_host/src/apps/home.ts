/** Where the workspace is in this document: in the page's own `<ostiary-workspace>`, else in a panel of ours over the page. */

import { createShell, dress } from '../ui/dom.js';
import commonCss from '../ui/common.css?inline';
import boxCss from './box.css?inline';
import { findBox, rootOf } from './element.js';
import overlayCss from './overlay.css?inline';
import workspaceCss from './workspace.css?inline';

export interface Overlay {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
}

/** What lies over the page: the question, and the workspace where the page has no place for it. */
export function createOverlay(mode: ShadowRootMode, lang: string): Overlay {
  const { element, root } = createShell(mode, workspaceCss + overlayCss);
  element.lang = lang;
  return { element, root };
}

export interface Home {
  readonly root: ShadowRoot;
  /** The page's own element; undefined where the panel is ours. */
  readonly box: HTMLElement | undefined;
}

export function findHome(site: string, mode: ShadowRootMode, overlay: Overlay): Home {
  const box = findBox(site);
  const root = box && rootOf(box, mode);
  if (!box || !root) return { root: overlay.root, box: undefined };
  dress(root, boxCss, commonCss, workspaceCss);
  return { root, box };
}

/**
 * The nodes of a document on the page, by their ids.
 *
 * An element lives as long as its node: what a person has opened, selected or typed in it outlasts every patch. A node
 * that cannot be shown is replaced by a line that says so, until the state gives it another try.
 */

import { el } from '../../ui/dom.js';
import type { UINode } from '../types.js';
import { setChildren, setText } from './dom.js';
import { codeOf } from './faults.js';
import { BUILDERS } from './parts/index.js';
import type { Part, Scene } from './scene.js';

interface Twig {
  readonly type: UINode['type'];
  readonly part: Part<never>;
  /** The layout sees this one, whether the part or the fault is in it. */
  readonly box: HTMLElement;
  readonly fault: HTMLElement;
  parent: string | undefined;
  index: number;
}

export interface Tree {
  sync(root: UINode): void;
  /** Goes to the first control whose words do not count, or that is missing some in `form`; false if there is none. */
  visitRefused(form?: string): boolean;
  destroy(): void;
}

export function createTree(scene: Scene, home: HTMLElement, log: (code: string, node: string) => void): Tree {
  const twigs = new Map<string, Twig>();
  /** What was logged of a node, so that a fault that stays is said once. */
  const faults = new Map<string, string>();

  const grow = (node: UINode): Twig => {
    const known = twigs.get(node.id);
    if (known?.type === node.type) return known;
    known?.part.destroy?.();
    const part = BUILDERS[node.type](scene, node.id) as Part<never>;
    const fault = el('p', { class: 'fault', hidden: true });
    const box = el('div', { class: 'node', 'data-node': node.id, 'data-type': node.type }, part.element, fault);
    const twig: Twig = { type: node.type, part, box, fault, parent: undefined, index: 0 };
    twigs.set(node.id, twig);
    return twig;
  };

  const setFault = ({ part, fault }: Twig, id: string, code: string | undefined): void => {
    fault.hidden = code === undefined;
    part.element.toggleAttribute('hidden', code !== undefined);
    setText(fault, code === undefined ? '' : `${scene.say('cannotShow')} (${code})`);
    if (code !== undefined && faults.get(id) !== code) log(code, id);
    if (code === undefined) faults.delete(id);
    else faults.set(id, code);
  };

  /** Whether the node is to be seen; its box says so. */
  const paint = (twig: Twig, node: UINode): void => {
    try {
      twig.box.hidden = node.visible !== undefined && !scene.flag(node.visible);
      if (!twig.box.hidden) twig.part.update(node.props as never);
      setFault(twig, node.id, undefined);
    } catch (error) {
      twig.box.hidden = false;
      setFault(twig, node.id, codeOf(error));
    }
  };

  const visit = (node: UINode, parent: string | undefined, index: number, met: Set<string>): HTMLElement => {
    met.add(node.id);
    const twig = grow(node);
    Object.assign(twig, { parent, index });
    paint(twig, node);
    const children = (node.children ?? []).map((child, at) => visit(child, node.id, at, met));
    twig.part.place?.(children);
    return twig.box;
  };

  const reveal = (id: string): void => {
    for (let at = twigs.get(id); at?.parent !== undefined; at = twigs.get(at.parent)) twigs.get(at.parent)?.part.reveal?.(at.index);
  };

  return {
    sync(root) {
      const met = new Set<string>();
      setChildren(home, [visit(root, undefined, 0, met)]);
      for (const [id, { part }] of twigs) {
        if (met.has(id)) continue;
        part.destroy?.();
        twigs.delete(id);
        faults.delete(id);
      }
    },
    visitRefused(form) {
      const submitted = form === undefined ? undefined : twigs.get(form)?.box;
      for (const [id, { part, box }] of twigs) {
        if (box.closest('.node[hidden]')) continue;
        const control = part.refused?.(submitted?.contains(box) ?? false);
        if (!control) continue;
        reveal(id);
        control.focus();
        return true;
      }
      return false;
    },
    destroy() {
      for (const { part } of twigs.values()) part.destroy?.();
      twigs.clear();
      home.replaceChildren();
    },
  };
}

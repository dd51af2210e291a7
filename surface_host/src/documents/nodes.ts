/** The nodes of a document in pre-order, each with its place. */

import { segment } from './pointers.js';
import type { UIDocument, UINode } from './types.js';

export interface Placed {
  readonly node: UINode;
  readonly at: string;
  /** Whether a form stands around it. */
  readonly isInForm: boolean;
}

export function* nodesOf({ root }: Pick<UIDocument, 'root'>): Generator<Placed> {
  yield* below(root, '/root', false);
}

function* below(node: UINode, at: string, isInForm: boolean): Generator<Placed> {
  yield { node, at, isInForm };
  for (const [index, child] of (node.children ?? []).entries()) {
    yield* below(child, `${at}/children${segment(index)}`, isInForm || node.type === 'Form');
  }
}

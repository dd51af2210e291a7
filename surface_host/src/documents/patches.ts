/**
 * Changes to a document by the ids of its nodes (rules H5): `add`, `update`, `remove`, and nothing that reaches elsewhere.
 *
 * A patch is applied to a copy; the copy is then judged as any document is, so a patch leads from one legal document to
 * another, or nowhere.
 */

import { byteLength, canonical } from './canonical.js';
import { assertNone, refused } from './faults.js';
import { judgePlain, type Judged, type JudgeOptions } from './judge.js';
import { isItems, isMembers, type Members, type Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { components, rowOf } from './rows.js';
import { assertSafeJSON } from './safe.js';
import { patchIssues } from './shape.js';
import { LIMITS } from './table.js';
import type { UIDocument } from './types.js';

/** The copy's own objects; their keys stay in the order of the text. */
type Draft = Map<string, Plain>;

/** The document after a patch. Throws `Refused`: pointers are into the patch, or into the result if that is at fault. */
export function applyPatch(document: UIDocument, operations: unknown, options: JudgeOptions = {}): Judged {
  const patch = assertSafeJSON(operations);
  if (byteLength(canonical(patch)) > LIMITS.patch_bytes) throw refused('document.patch_too_large');
  assertNone(patchIssues(patch));
  const copy = drafted(assertSafeJSON(document)) as Draft;
  const tree = new Tree(copy.get('root') as Draft);
  for (const [index, operation] of (patch as readonly Members[]).entries()) tree.apply(operation, segment(index));
  return judgePlain(copy, options);
}

/** A copy that may be changed. */
function drafted(value: Plain): Plain {
  if (isItems(value)) return value.map(drafted);
  return isMembers(value) ? new Map(Array.from(value, ([key, member]) => [key, drafted(member)])) : value;
}

interface Place {
  readonly node: Draft;
  /** Where it stands among its siblings; the root has none. */
  readonly siblings?: Plain[];
}

class Tree {
  readonly #places = new Map<string, Place>();

  constructor(root: Draft) {
    for (const { node, siblings } of below(root, '')) this.#keep(node, siblings);
  }

  apply(operation: Members, at: string): void {
    const op = operation.get('op') as keyof typeof this.operations;
    this.operations[op](operation, at);
  }

  readonly operations = {
    add: (operation: Members, at: string): void => {
      const { node: parent } = this.#find(operation.get('parent'), `${at}/parent`);
      const type = parent.get('type');
      if (typeof type !== 'string' || !rowOf(components, type)?.children) throw refused('document.patch_target', cut(`${at}/parent`));
      const siblings = parent.has('children') ? parent.get('children') : [];
      const index = operation.get('index') as number;
      if (!isItems(siblings) || index > siblings.length) throw refused('document.patch_target', cut(`${at}/index`));
      const added = drafted(operation.get('node') as Members) as Draft;
      for (const { node, siblings: own, at: here } of below(added, `${at}/node`)) {
        if (this.#places.has(node.get('id') as string)) throw refused('document.duplicate_id', cut(`${here}/id`));
        this.#keep(node, own ?? (siblings as Plain[]));
      }
      (siblings as Plain[]).splice(index, 0, added);
      parent.set('children', siblings);
    },
    update: (operation: Members, at: string): void => {
      const { node } = this.#find(operation.get('id'), `${at}/id`);
      for (const name of ['props', 'visible']) if (operation.has(name)) node.set(name, drafted(operation.get(name) as Plain));
    },
    remove: (operation: Members, at: string): void => {
      const { node, siblings } = this.#find(operation.get('id'), `${at}/id`);
      if (!siblings) throw refused('document.patch_target', cut(`${at}/id`));
      siblings.splice(siblings.indexOf(node), 1);
      for (const { node: gone } of below(node, '')) this.#places.delete(gone.get('id') as string);
    },
  };

  #find(id: Plain | undefined, at: string): Place {
    const place = this.#places.get(id as string);
    if (!place) throw refused('document.patch_target', cut(at));
    return place;
  }

  #keep(node: Draft, siblings: Plain[] | undefined): void {
    const id = node.get('id');
    if (typeof id === 'string') this.#places.set(id, siblings ? { node, siblings } : { node });
  }
}

interface Found {
  readonly node: Draft;
  readonly siblings?: Plain[];
  readonly at: string;
}

/** A node and each object below it in pre-order; their shape is not known. */
function* below(node: Draft, at: string, siblings?: Plain[]): Generator<Found> {
  yield siblings ? { node, siblings, at } : { node, at };
  const children = node.get('children');
  if (!isItems(children)) return;
  for (const [index, child] of children.entries()) if (isMembers(child)) yield* below(child as Draft, `${at}/children${segment(index)}`, children as Plain[]);
}

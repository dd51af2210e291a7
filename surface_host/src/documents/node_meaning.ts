/** What one node refers to, and what its component alone asks of it (the norm's phase 4, step 5). */

import { domainFault, valuesOf } from './domains.js';
import { refused, type DocumentCode } from './faults.js';
import type { Placed } from './nodes.js';
import { isItems, isMembers, type Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { components, type Member, type MemberKind, type Row } from './rows.js';
import { INPUT_KINDS } from './table.js';
import type { Typing } from './typing.js';
import type { Expr, Field, NodeType, PropsByType, Scalar, UIDocument, UINode } from './types.js';

export interface Around {
  readonly document: UIDocument;
  readonly plain: Plain;
  readonly typing: Typing;
  /** By field, what the Selects before this one offer. */
  readonly earlier: Map<string, ReadonlySet<Scalar>>;
}

type NodeOf<T extends NodeType> = Extract<UINode, { type: T }>;
type Props = Readonly<Record<string, unknown>>;
type Judge = (value: unknown, at: string, member: Member, around: Around, node: UINode) => void;

const fail = (code: DocumentCode, at: string): never => {
  throw refused(code, cut(at));
};

const expression: Judge = (value, at, { gives = 'scalar' }, { typing }) => typing.expect(value as Expr, at, gives);

/** The other kinds refer to nothing. */
const JUDGES: { readonly [K in MemberKind]?: Judge } = {
  expr: expression,
  list: (value, at, { members = {} }, around, node) => {
    for (const [index, item] of (value as readonly Props[]).entries()) assertMembers(item, at + segment(index), members, around, node);
  },
  rows: (value, at, member, around, node) => assertRows(value as readonly Readonly<Record<string, Expr>>[], at, member, around, node),
  field: (value, at, { holds = [] }, { document: { state = {} } }, node) => {
    const id = value as string;
    if (!Object.hasOwn(state, id)) fail('document.unknown_field', at);
    const { type } = state[id] as Field;
    if (!(node.type === 'Input' ? INPUT_KINDS[node.props.kind] === type : holds.includes(type))) fail('document.type_mismatch', at);
  },
  action: (value, at, _, { document: { actions = {} } }) => {
    if (!Object.hasOwn(actions, value as string)) fail('document.unknown_action', at);
  },
};

function assertMembers(value: Props, at: string, row: Row, around: Around, node: UINode): void {
  for (const [name, member] of Object.entries(row)) if (value[name] !== undefined) JUDGES[member.kind]?.(value[name], `${at}/${name}`, member, around, node);
}

function assertRows(rows: readonly Readonly<Record<string, Expr>>[], at: string, { gives = 'scalar' }: Member, { plain, typing }: Around, node: UINode): void {
  const keys = (node as NodeOf<'Table'>).props.columns.map(({ key }) => key);
  for (const [index, row] of rows.entries()) {
    const here = at + segment(index);
    if (Object.keys(row).some((key) => !keys.includes(key))) {
      // In the order of the text, which the row itself does not keep for keys such as `1`.
      const undeclared = keysAt(plain, here).find((key) => !keys.includes(key)) as string;
      fail('document.unknown_key', here + segment(undeclared));
    }
    if (!keys.every((key) => Object.hasOwn(row, key))) fail('document.missing_key', here);
    for (const key of keys) typing.expect(row[key] as Expr, `${here}/${key}`, gives);
  }
}

/** The keys of the object at a pointer that needs no unescaping. */
function keysAt(plain: Plain, pointer: string): readonly string[] {
  let value: Plain | undefined = plain;
  for (const step of pointer.split('/').slice(1)) value = isItems(value) ? value[Number(step)] : isMembers(value) ? value.get(step) : undefined;
  return isMembers(value) ? [...value.keys()] : [];
}

type Special = { readonly [T in NodeType]?: (placed: Placed & { readonly node: NodeOf<T> }, around: Around) => void };

const SPECIAL: Special = {
  Tabs: ({ node, at }) => {
    if ((node.children ?? []).length !== node.props.tabs.length) fail('document.wrong_children', at);
  },
  Form: ({ at, isInForm }) => {
    if (isInForm) fail('document.nested_form', at);
  },
  Slider: ({ node: { props }, at }, { document }) => {
    const field = document.state?.[props.field] as Extract<Field, { type: 'number' }>;
    for (const name of ['min', 'max', 'step'] as const) {
      if (props[name] !== undefined && props[name] !== field[name]) fail('document.range_differs', `${at}/props/${name}`);
    }
  },
  Select: ({ node: { props }, at }, { document, earlier }) => assertSelect(props, at, document.state?.[props.field] as Field, earlier),
};

function assertSelect(props: PropsByType['Select'], at: string, declared: Field, earlier: Around['earlier']): void {
  const { field, options } = props;
  for (const [index, { value }] of options.entries()) {
    const code = domainFault(declared, value);
    if (code) fail(code, `${at}/props/options${segment(index)}/value`);
  }
  const values = valuesOf(props);
  const others = earlier.get(field) ?? values;
  if (others.size !== values.size || ![...values].every((value) => others.has(value))) fail('document.options_differ', `${at}/props/options`);
  if (!values.has(declared.default)) fail('document.out_of_domain', `/state/${field}/default`);
  earlier.set(field, values);
}

/** Throws `Refused` with the first fault of the node itself; its children are nodes of their own. */
export function assertNode(placed: Placed, around: Around): void {
  const { node, at } = placed;
  if (node.visible !== undefined) around.typing.expect(node.visible, `${at}/visible`, 'boolean');
  assertMembers(node.props as Props, `${at}/props`, components[node.type].props, around, node);
  (SPECIAL[node.type] as ((placed: Placed, around: Around) => void) | undefined)?.(placed, around);
}

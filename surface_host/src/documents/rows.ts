/** The generated table, typed for who walks it. */

import { ACTIONS, COMPONENTS, DOCUMENT, EXPRESSIONS, FIELDS, NODE, OPERATORS, PATCH } from './table.js';
import type { NodeType, Operator, ValueType } from './types.js';

export type MemberKind =
  | 'text' | 'id' | 'field' | 'action' | 'name' | 'word' | 'flag' | 'integer' | 'number' | 'positive' | 'scalar'
  | 'expr' | 'list' | 'rows' | 'ids' | 'map' | 'node' | 'nodes' | 'props' | 'args' | 'object' | 'value';

/** One member of an object; the table's Python source says what each property means. */
export interface Member {
  readonly kind: MemberKind;
  readonly required: boolean;
  readonly least?: number;
  readonly most?: number;
  readonly gives?: ValueType | 'scalar';
  readonly words?: readonly string[];
  readonly holds?: readonly ValueType[];
  readonly of?: 'field' | 'expr' | 'action' | 'id';
  readonly unique?: string;
  readonly members?: Row;
}
export type Row = Readonly<Record<string, Member>>;

export interface Component {
  readonly group: 'layout' | 'words' | 'status' | 'data' | 'input';
  readonly props: Row;
  readonly children: boolean;
}
export interface OperatorRow {
  readonly least: number;
  readonly most: number;
  readonly takes: readonly ('boolean' | 'number' | 'any' | 'same' | 'scalar' | 'decimals')[];
  readonly gives: ValueType | 'same';
}

export const documentRow: Row = DOCUMENT;
export const nodeRow: Row = NODE;
export const fieldRows: Readonly<Record<string, Row>> = FIELDS;
export const actionRows: Readonly<Record<string, Row>> = ACTIONS;
export const patchRows: Readonly<Record<string, Row>> = PATCH;
export const operationRow: Row = EXPRESSIONS.op;
export const refRow: Row = EXPRESSIONS.ref;
export const components: Readonly<Record<NodeType, Component>> = COMPONENTS;
export const operators: Readonly<Record<Operator, OperatorRow>> = OPERATORS;

/** The row of that name, if there is one. */
export const rowOf = <T>(rows: Readonly<Record<string, T>>, name: string): T | undefined => (Object.hasOwn(rows, name) ? rows[name] : undefined);

/**
 * A UI document that was judged, as everything behind the judge may take it for granted (design §12).
 *
 * INVARIANT: a value of type `UIDocument` comes from `judge` alone and is frozen to its last part (rules H1). Lengths of
 * texts are UTF-16 units; numbers are finite doubles, and none is minus zero.
 */

export type Scalar = string | number | boolean;
export type ValueType = 'string' | 'number' | 'boolean';
export type DocumentKind = 'structured' | 'intelligent';

export interface Ref {
  readonly ref: string;
}
export interface Operation {
  readonly op: Operator;
  readonly args: readonly Expr[];
}
export type Expr = Scalar | Ref | Operation;
export type Operator =
  | 'if' | 'and' | 'or' | 'not' | 'eq' | 'lt' | 'lte' | 'gt' | 'gte'
  | 'add' | 'sub' | 'mul' | 'div' | 'pow' | 'min' | 'max' | 'round' | 'concat';

export type Field =
  | { readonly type: 'string'; readonly default: string; readonly maxLength?: number }
  | { readonly type: 'number'; readonly default: number; readonly min?: number; readonly max?: number; readonly step?: number }
  | { readonly type: 'boolean'; readonly default: boolean };

export interface SetAction {
  readonly type: 'set';
  readonly field: string;
  readonly value: Expr;
}
export interface ResetAction {
  readonly type: 'reset';
  /** Absent: all of them. */
  readonly fields?: readonly string[];
}
export interface InvokeAction {
  readonly type: 'invoke';
  /** An entry of the administrator's table, never a tool. */
  readonly capability: string;
  readonly args: Readonly<Record<string, Expr>>;
  /** State field by field: the field of the result it takes its value from. */
  readonly resultMap?: Readonly<Record<string, string>>;
}
export type Action = SetAction | ResetAction | InvokeAction;

export type Tone = 'info' | 'success' | 'warning' | 'danger';

export interface Column {
  readonly key: string;
  readonly label: string;
  readonly align?: 'start' | 'center' | 'end';
  readonly decimals?: number;
}
export interface ListItem {
  readonly id: string;
  readonly primary: Expr;
  readonly secondary?: Expr;
}
export interface ChartPoint {
  readonly id: string;
  readonly label: string;
  readonly value: Expr;
}
export interface Tab {
  readonly id: string;
  readonly label: string;
}
export interface Option {
  readonly value: Scalar;
  readonly label: string;
}

/** The props of each component. */
export interface PropsByType {
  Stack: { readonly direction?: 'row' | 'column'; readonly gap?: 'none' | 'small' | 'medium' | 'large' };
  Grid: { readonly columns: 1 | 2 | 3 | 4 };
  Card: { readonly title?: string };
  Tabs: { readonly tabs: readonly Tab[] };
  Divider: Readonly<Record<never, never>>;
  Text: { readonly text: Expr; readonly tone?: 'default' | 'muted' | 'success' | 'warning' | 'danger' };
  Heading: { readonly text: Expr; readonly level: 1 | 2 | 3 };
  Markdown: { readonly text: string };
  Alert: { readonly text: Expr; readonly tone?: Tone };
  Badge: { readonly text: Expr; readonly tone?: Tone };
  Progress: { readonly value: Expr; readonly max: number; readonly label?: string };
  Table: { readonly columns: readonly Column[]; readonly rows: readonly Readonly<Record<string, Expr>>[] };
  List: { readonly items: readonly ListItem[] };
  Chart: { readonly kind: 'bar' | 'line' | 'area' | 'pie'; readonly data: readonly ChartPoint[]; readonly title?: string };
  Result: { readonly label: string; readonly value: Expr; readonly decimals: number; readonly unit?: string };
  Form: { readonly submit: string; readonly submitLabel: string };
  Input: {
    readonly field: string;
    readonly label: string;
    readonly kind: 'text' | 'multiline' | 'number' | 'date';
    readonly placeholder?: string;
    readonly required?: boolean;
  };
  Slider: { readonly field: string; readonly label: string; readonly min?: number; readonly max?: number; readonly step?: number };
  Select: { readonly field: string; readonly label: string; readonly options: readonly Option[] };
  Checkbox: { readonly field: string; readonly label: string };
  Button: {
    readonly label: string;
    readonly action: string;
    readonly variant?: 'primary' | 'secondary' | 'danger';
    readonly disabled?: Expr;
  };
}
export type NodeType = keyof PropsByType;

/** One component; narrow by `type` to get its props. */
export type UINode = {
  [T in NodeType]: {
    readonly id: string;
    readonly type: T;
    readonly props: PropsByType[T];
    readonly children?: readonly UINode[];
    readonly visible?: Expr;
  };
}[NodeType];

export interface UIDocument {
  readonly version: '1.0' | '1.1';
  readonly title: string;
  readonly state?: Readonly<Record<string, Field>>;
  readonly derived?: Readonly<Record<string, Expr>>;
  readonly actions?: Readonly<Record<string, Action>>;
  readonly root: UINode;
}

/** A value for each state field. A state never changes; the next one takes its place. */
export type State = Readonly<Record<string, Scalar>>;

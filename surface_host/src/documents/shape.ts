/**
 * Whether a document has the shape the table gives it (the norm's phase 3). References are only texts here.
 *
 * The walk goes on behind a fault, so that the author hears of several at once; the first one is the verdict. Recursion is
 * bounded by the budgets and the scanner's depth.
 */

import { issue, type DocumentCode, type Issue } from './faults.js';
import { isItems, isMembers, type Members, type Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { actionRows, components, documentRow, fieldRows, nodeRow, operationRow, operators, patchRows, refRow, rowOf, type Member, type MemberKind, type Row } from './rows.js';
import { ACTIONS_SINCE, ID_PATTERN, LIMITS, NAME_PATTERN, REFUSED_IDS, VERSIONS } from './table.js';

const ID = new RegExp(`^(?:${ID_PATTERN})$`);
const NAME = new RegExp(`^(?:${NAME_PATTERN})$`);
const REFUSED: ReadonlySet<string> = new Set(REFUSED_IDS);

// The grammar has no line ends, so `$` cannot stand before one.
const isId = (text: string): boolean => ID.test(text) && !REFUSED.has(text);

const isNumber = (value: Plain): value is number => typeof value === 'number';
const isText = (value: Plain): value is string => typeof value === 'string';
const within = (value: number, { least = -Infinity, most = Infinity }: Pick<Member, 'least' | 'most'>): boolean => value >= least && value <= most;

/** Thrown when the author has heard enough. */
class Enough extends Error {}

type Judge = (value: Plain, at: string, member: Member) => void;

class Walk {
  readonly issues: Issue[] = [];
  /** How far the document's version goes; set by the document's discriminator. */
  #version = 0;

  document(value: Plain): void {
    this.#object(value, '', 'version', (version, members) => {
      this.#version = (VERSIONS as readonly string[]).indexOf(version);
      if (this.#version < 0) return 'document.unknown_version';
      this.#members(members, '', documentRow, ['version']);
      return undefined;
    });
  }

  patch(value: Plain): void {
    this.#items(value, '', { least: 1, most: LIMITS.patch_operations }, (operation, at) =>
      this.#object(operation, at, 'op', (op, members) => {
        const row = rowOf(patchRows, op);
        if (row) this.#members(members, at, row, ['op']);
        return row ? undefined : 'document.not_allowed';
      }),
    );
  }

  /** What every value of a kind goes through. Objects of several shapes have functions of their own below. */
  readonly #judges: { readonly [K in MemberKind]: Judge } = {
    text: (value, at, member) => {
      if (!isText(value)) this.#fault('document.wrong_type', at);
      else if (!within(value.length, member)) this.#fault('document.wrong_length', at);
    },
    id: (value, at) => this.#word(value, at, isId, 'document.bad_id'),
    field: (value, at) => this.#word(value, at, isId, 'document.bad_id'),
    action: (value, at) => this.#word(value, at, isId, 'document.bad_id'),
    name: (value, at) => this.#word(value, at, (text) => NAME.test(text), 'document.bad_name'),
    word: (value, at, { words = [] }) => this.#word(value, at, (text) => words.includes(text), 'document.not_allowed'),
    flag: (value, at) => {
      if (typeof value !== 'boolean') this.#fault('document.wrong_type', at);
    },
    integer: (value, at, member) => this.#number(value, at, within(value as number, member), Number.isInteger(value)),
    number: (value, at) => this.#number(value, at, Math.abs(value as number) <= LIMITS.magnitude),
    positive: (value, at) => this.#number(value, at, (value as number) > 0 && (value as number) <= LIMITS.magnitude),
    scalar: (value, at) => this.#literal(value, at),
    expr: (value, at) => this.#expression(value, at),
    list: (value, at, member) => this.#items(value, at, member, (item, here) => this.#item(item, here, member.members ?? {})),
    rows: (value, at, member) => this.#items(value, at, member, (row, here) => this.#cells(row, here)),
    ids: (value, at, member) => this.#items(value, at, member, (item, here) => this.#judges.id(item, here, member)),
    map: (value, at, member) => this.#map(value, at, member),
    node: (value, at) => this.#node(value, at),
    nodes: (value, at, member) => this.#items(value, at, member, (child, here) => this.#node(child, here)),
    object: (value, at) => {
      if (!isMembers(value)) this.#fault('document.wrong_type', at);
    },
    value: () => undefined,
    // These two are judged with the object that holds them: what they may hold depends on its type.
    props: () => undefined,
    args: () => undefined,
  };

  readonly #entries: { readonly [O in NonNullable<Member['of']>]: (value: Plain, at: string) => void } = {
    field: (value, at) =>
      this.#object(value, at, 'type', (type, members) => {
        const row = rowOf(fieldRows, type);
        if (row) this.#members(members, at, row, ['type']);
        return row ? undefined : 'document.unknown_type';
      }),
    action: (value, at) =>
      this.#object(value, at, 'type', (type, members) => {
        const row = rowOf(actionRows, type);
        if (!row) return 'document.unknown_type';
        if ((VERSIONS as readonly string[]).indexOf(ACTIONS_SINCE[type as keyof typeof ACTIONS_SINCE]) > this.#version) return 'document.not_in_version';
        this.#members(members, at, row, ['type']);
        return undefined;
      }),
    expr: (value, at) => this.#expression(value, at),
    id: (value, at) => this.#word(value, at, isId, 'document.bad_id'),
  };

  #node(value: Plain, at: string): void {
    this.#object(value, at, 'type', (type, members) => {
      const component = rowOf(components, type);
      if (!component) return 'document.unknown_type';
      const { children, ...withoutChildren } = nodeRow;
      this.#members(members, at, component.children ? nodeRow : withoutChildren, ['type'], {
        props: (props, here) => this.#item(props, here, component.props),
      });
      return undefined;
    });
  }

  #expression(value: Plain, at: string): void {
    if (!isMembers(value)) return this.#literal(value, at);
    if (!value.has('op')) return this.#members(value, at, refRow);
    this.#object(value, at, 'op', (op, members) => {
      const row = rowOf(operators, op);
      if (!row) return 'document.unknown_operator';
      this.#members(members, at, operationRow, ['op'], {
        args: (args, here) => {
          if (!isItems(args)) return this.#fault('document.wrong_type', here);
          if (!within(args.length, row)) return this.#fault('document.wrong_arity', here);
          args.forEach((arg, index) => {
            if (row.takes[index] === 'decimals') this.#number(arg, here + segment(index), within(arg as number, { least: 0, most: LIMITS.decimals }), Number.isInteger(arg));
            else this.#expression(arg, here + segment(index));
          });
        },
      });
      return undefined;
    });
  }

  #literal(value: Plain, at: string): void {
    if (isText(value)) {
      if (value.length > LIMITS.scalar) this.#fault('document.wrong_length', at);
    } else if (typeof value !== 'boolean') this.#number(value, at, Math.abs(value as number) <= LIMITS.magnitude);
  }

  #map(value: Plain, at: string, member: Member): void {
    if (!isMembers(value)) return this.#fault('document.wrong_type', at);
    if (!within(value.size, member)) return this.#fault('document.wrong_count', at);
    for (const [key, entry] of value) {
      const here = at + segment(key);
      if (!isId(key)) this.#fault('document.bad_id', here);
      if (member.of) this.#entries[member.of](entry, here);
    }
  }

  #cells(row: Plain, at: string): void {
    if (!isMembers(row)) return this.#fault('document.wrong_type', at);
    for (const [key, cell] of row) this.#expression(cell, at + segment(key));
  }

  #items(value: Plain, at: string, member: Pick<Member, 'least' | 'most'>, each: (item: Plain, at: string) => void): void {
    if (!isItems(value)) return this.#fault('document.wrong_type', at);
    if (!within(value.length, member)) return this.#fault('document.wrong_count', at);
    value.forEach((item, index) => each(item, at + segment(index)));
  }

  /** An object of one shape. */
  #item(value: Plain, at: string, row: Row): void {
    if (isMembers(value)) this.#members(value, at, row);
    else this.#fault('document.wrong_type', at);
  }

  /** An object whose shape its discriminator tells: `shaped` judges it, or says what is wrong with the discriminator. */
  #object(value: Plain, at: string, discriminator: string, shaped: (word: string, members: Members) => DocumentCode | undefined): void {
    if (!isMembers(value)) return this.#fault('document.wrong_type', at);
    const word = value.get(discriminator);
    if (word === undefined) return this.#fault('document.missing_key', at);
    const code = isText(word) ? shaped(word, value) : 'document.wrong_type';
    if (code) this.#fault(code, at + segment(discriminator));
  }

  /** First what should not be there, then what should, then the values; `own` judges members the table leaves open. */
  #members(value: Members, at: string, row: Row, judged: readonly string[] = [], own: Readonly<Record<string, (value: Plain, at: string) => void>> = {}): void {
    for (const key of value.keys()) if (!Object.hasOwn(row, key)) this.#fault('document.unknown_key', at + segment(key));
    for (const [key, member] of Object.entries(row)) if (member.required && !value.has(key)) this.#fault('document.missing_key', at);
    for (const [key, entry] of value) {
      const member = rowOf(row, key);
      if (!member || judged.includes(key)) continue;
      (rowOf(own, key) ?? this.#judges[member.kind])(entry, at + segment(key), member);
    }
  }

  #word(value: Plain, at: string, fits: (text: string) => boolean, code: DocumentCode): void {
    if (!isText(value)) this.#fault('document.wrong_type', at);
    else if (!fits(value)) this.#fault(code, at);
  }

  #number(value: Plain, at: string, fits: boolean, isWhole = true): void {
    if (!isNumber(value) || !isWhole) this.#fault('document.wrong_type', at);
    else if (!fits) this.#fault('document.out_of_range', at);
  }

  #fault(code: DocumentCode, at: string): void {
    this.issues.push(issue(code, cut(at)));
    if (this.issues.length === LIMITS.issues) throw new Enough();
  }
}

function issuesOf(work: (walk: Walk) => void): readonly Issue[] {
  const walk = new Walk();
  try {
    work(walk);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
  return walk.issues;
}

/** The first faults of shape in document order, at most 20; none for a document that has the shape. */
export const shapeIssues = (document: Plain): readonly Issue[] => issuesOf((walk) => walk.document(document));

/** The same for the operations of a patch; the nodes in them have no shape yet. */
export const patchIssues = (operations: Plain): readonly Issue[] => issuesOf((walk) => walk.patch(operations));

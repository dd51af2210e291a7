/**
 * What a document of the right shape means (the norm's phase 4). A step goes over the whole document before the next
 * begins; the first fault is thrown as `Refused`.
 */

import { domainFault, offersOf, type Offers } from './domains.js';
import { createEvaluation, type Evaluation } from './evaluate.js';
import { NoValue, refused, type DocumentCode } from './faults.js';
import { nodesOf } from './nodes.js';
import { assertNode } from './node_meaning.js';
import type { Plain } from './plain.js';
import { cut, segment } from './pointers.js';
import { components } from './rows.js';
import { initialState } from './state.js';
import { createTyping, type Typing } from './typing.js';
import type { Action, DocumentKind, Expr, Field, Scalar, UIDocument } from './types.js';

const fail = (code: DocumentCode, at: string): never => {
  throw refused(code, cut(at));
};

/** `plain`: the same document with its members in the order of the text. */
export function assertMeaning(document: UIDocument, plain: Plain, kind: DocumentKind | undefined): void {
  const { state = {}, actions = {} } = document;
  assertUnique(document);
  for (const [id, field] of Object.entries(state)) assertField(field, `/state/${id}`);
  const typing = createTyping(document);
  for (const [id, action] of Object.entries(actions)) assertAction(action, `/actions/${id}`, state, typing);
  const earlier = new Map<string, ReadonlySet<Scalar>>();
  for (const placed of nodesOf(document)) assertNode(placed, { document, plain, typing, earlier });
  if (kind === 'structured') assertStructured(document);
  assertEvaluable(document);
}

function assertUnique(document: UIDocument): void {
  const { state = {}, derived = {} } = document;
  for (const id of Object.keys(derived)) if (Object.hasOwn(state, id)) fail('document.duplicate_id', `/derived/${id}`);
  const ids = new Set<string>();
  for (const { node, at } of nodesOf(document)) {
    if (ids.has(node.id)) fail('document.duplicate_id', `${at}/id`);
    ids.add(node.id);
    for (const [name, { unique, members }] of Object.entries(components[node.type].props)) {
      if (unique === undefined) continue;
      const code = members?.[unique]?.kind === 'scalar' ? 'document.duplicate_value' : 'document.duplicate_id';
      assertDistinct((node.props as Readonly<Record<string, readonly Readonly<Record<string, Scalar>>[]>>)[name] ?? [], unique, `${at}/props/${name}`, code);
    }
  }
}

function assertDistinct(items: readonly Readonly<Record<string, Scalar>>[], member: string, at: string, code: DocumentCode): void {
  const seen = new Set<Scalar | undefined>();
  for (const [index, item] of items.entries()) {
    if (seen.has(item[member])) fail(code, `${at}${segment(index)}/${member}`);
    seen.add(item[member]);
  }
}

function assertField(field: Field, at: string): void {
  if (field.type === 'number' && field.min !== undefined && field.max !== undefined && field.min > field.max) fail('document.bad_range', `${at}/max`);
  const code = domainFault(field, field.default);
  if (code) fail(code, `${at}/default`);
}

function assertAction(action: Action, at: string, state: Readonly<Record<string, Field>>, typing: Typing): void {
  const known = (field: string, here: string): void => {
    if (!Object.hasOwn(state, field)) fail('document.unknown_field', here);
  };
  if (action.type === 'set') {
    known(action.field, `${at}/field`);
    typing.expect(action.value, `${at}/value`, (state[action.field] as Field).type);
  } else if (action.type === 'reset') {
    for (const [index, field] of (action.fields ?? []).entries()) {
      const here = `${at}/fields${segment(index)}`;
      known(field, here);
      if (action.fields?.indexOf(field) !== index) fail('document.duplicate_value', here);
    }
  } else {
    for (const [name, value] of Object.entries(action.args)) typing.type(value, `${at}/args/${name}`);
    for (const field of Object.keys(action.resultMap ?? {})) known(field, `${at}/resultMap/${field}`);
  }
}

/** No actions, and nothing to type into or press. */
function assertStructured(document: UIDocument): void {
  if (Object.keys(document.actions ?? {}).length > 0) fail('document.not_structured', '/actions');
  for (const { node, at } of nodesOf(document)) if (components[node.type].group === 'input') fail('document.not_structured', `${at}/type`);
}

/** Everything that is worked out without a node has a value on the defaults, and a `set` one its field may hold. */
function assertEvaluable(document: UIDocument): void {
  const { state = {}, derived = {}, actions = {} } = document;
  const evaluation = createEvaluation(document, initialState(document));
  const offers = offersOf(document);
  for (const name of Object.keys(derived)) valueOf(evaluation, { ref: name }, `/derived/${name}`);
  for (const [id, action] of Object.entries(actions)) {
    if (action.type === 'set') {
      const at = `/actions/${id}/value`;
      const value = valueOf(evaluation, action.value, at);
      if (domainFault(state[action.field] as Field, value) || !isOffered(offers, action.field, value)) fail('document.out_of_domain', at);
    } else if (action.type === 'invoke') {
      for (const [name, value] of Object.entries(action.args)) valueOf(evaluation, value, `/actions/${id}/args/${name}`);
    }
  }
}

const isOffered = (offers: Offers, field: string, value: Scalar): boolean => offers.get(field)?.has(value) ?? true;

function valueOf(evaluation: Evaluation, expression: Expr, at: string): Scalar {
  try {
    return evaluation.value(expression, at);
  } catch (error) {
    if (error instanceof NoValue) return fail('document.not_evaluable', error.pointer);
    throw error;
  }
}

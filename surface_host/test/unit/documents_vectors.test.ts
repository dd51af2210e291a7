import { describe, expect, test } from 'vitest';
import { byteLength, canonical, digestOf } from '../../src/documents/canonical.js';
import { createEvaluation } from '../../src/documents/evaluate.js';
import { NoValue, Refused, refused } from '../../src/documents/faults.js';
import { openGeneration, take, type FrameKind } from '../../src/documents/frames.js';
import { judge, judgeValue } from '../../src/documents/judge.js';
import { isOnGrid, power, rounded, text as spelled } from '../../src/documents/numbers.js';
import { applyPatch } from '../../src/documents/patches.js';
import { decoded, scan } from '../../src/documents/scanner.js';
import { LIMITS } from '../../src/documents/table.js';
import { actionArguments, initialState, mapResult, restoreState, runAction, updateState } from '../../src/documents/state.js';
import type { DocumentKind, Expr, State, UIDocument } from '../../src/documents/types.js';
import budgets from '../../../tests/vectors/documents/budgets.json' with { type: 'json' };
import components from '../../../tests/vectors/documents/components.json' with { type: 'json' };
import evaluation from '../../../tests/vectors/documents/evaluation.json' with { type: 'json' };
import meaning from '../../../tests/vectors/documents/meaning.json' with { type: 'json' };
import grids from '../../../tests/vectors/documents/number-grid.json' with { type: 'json' };
import powers from '../../../tests/vectors/documents/number-pow.json' with { type: 'json' };
import roundings from '../../../tests/vectors/documents/number-round.json' with { type: 'json' };
import spellings from '../../../tests/vectors/documents/number-text.json' with { type: 'json' };
import patches from '../../../tests/vectors/documents/patches.json' with { type: 'json' };
import scanner from '../../../tests/vectors/documents/scanner.json' with { type: 'json' };
import shape from '../../../tests/vectors/documents/shape.json' with { type: 'json' };
import states from '../../../tests/vectors/documents/state.json' with { type: 'json' };
import streams from '../../../tests/vectors/documents/streams.json' with { type: 'json' };

type Text = string | readonly (string | { readonly repeat: string; readonly times: number })[];
type Values = Readonly<Record<string, unknown>>;
type Expected = Readonly<Record<string, unknown>>;

interface TextVector {
  readonly id: string;
  readonly raw?: Text;
  readonly hex?: string;
  readonly max_bytes?: number;
  readonly kind?: DocumentKind;
  readonly expect: Expected;
}
interface StateStep {
  readonly do: 'update' | 'run' | 'map' | 'restore' | 'arguments';
  readonly changes: Values;
  readonly action: string;
  readonly result: Values;
  readonly values: Values;
  readonly saved: unknown;
  readonly expect: Expected;
}

/** The text a vector stands for. */
function expanded(raw: Text): string {
  if (typeof raw === 'string') return raw;
  return raw.map((part) => (typeof part === 'string' ? part : Array.from({ length: part.times }, (_, n) => part.repeat.replaceAll('§', String(n))).join(''))).join('');
}

const bytesOf = ({ raw, hex }: TextVector): Uint8Array =>
  hex === undefined ? new TextEncoder().encode(expanded(raw ?? '')) : Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** State values, long texts written out. */
const values = (given: Values): Values =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, typeof value === 'object' && value !== null && 'text' in value ? expanded(value.text as Text) : value]));

function double(digits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${digits}`));
  return view.getFloat64(0);
}

function digits(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, '0');
}

/** What came of it, or its refusal. */
function attempt<T>(work: () => T): { readonly made: T } | { readonly refusal: Expected } {
  try {
    return { made: work() };
  } catch (error) {
    if (error instanceof Refused) return { refusal: { code: error.code, pointer: error.pointer } };
    throw error;
  }
}

async function verdict(work: () => { digest: () => Promise<string> }): Promise<Expected> {
  const came = attempt(work);
  return 'refusal' in came ? came.refusal : { ok: true, sha256: await came.made.digest() };
}

describe('documents by the vectors of both halves', () => {
  test.each(scanner as readonly TextVector[])('scanner: $id', async (vector) => {
    const work = () => {
      const most = vector.max_bytes ?? LIMITS.bytes;
      const text = canonical(scan(decoded(bytesOf(vector), most)));
      if (byteLength(text) > most) throw refused('document.too_large');
      return { digest: () => digestOf(text) };
    };
    expect(await verdict(work)).toEqual(vector.expect);
  });

  for (const [group, vectors] of Object.entries({ budgets, components, shape, meaning })) {
    test.each(vectors as readonly TextVector[])(`${group}: $id`, async (vector) => {
      const options = vector.kind ? { kind: vector.kind } : {};
      expect(await verdict(() => judge(bytesOf(vector), options))).toEqual(vector.expect);
      // An engine moves keys such as `1` to the front: where the order decides, an object cannot say it.
      if (expanded(vector.raw ?? '').includes('"1":')) return;
      const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(vector)));
      expect(await verdict(() => judgeValue(value, options))).toEqual(vector.expect);
    });
  }

  test('numbers are spelled', () => {
    for (const { number, text } of spellings) expect(spelled(double(number))).toBe(text);
  });

  test('numbers are rounded', () => {
    for (const vector of roundings) expect(digits(rounded(double(vector.number), vector.places)), JSON.stringify(vector)).toBe(vector.result);
  });

  test('powers', () => {
    for (const vector of powers as readonly { base: string; exponent: string; result?: string; code?: string }[]) {
      const outcome = power(double(vector.base), double(vector.exponent));
      expect(typeof outcome === 'number' ? digits(outcome) : outcome, JSON.stringify(vector)).toBe(vector.result ?? vector.code);
    }
  });

  test('step grids', () => {
    for (const vector of grids) expect(isOnGrid(double(vector.value), double(vector.step), double(vector.base)), JSON.stringify(vector)).toBe(vector.on);
  });

  test.each(evaluation)('evaluation: $id', (vector) => {
    const state = vector.state as unknown as State;
    const derived = vector.derived as unknown as Readonly<Record<string, Expr>>;
    const value = createEvaluation({ derived }, state).derived().get('d');
    const told = value instanceof NoValue ? { code: value.code, pointer: value.pointer } : typeof value === 'number' ? { number: digits(value) } : { value };
    expect(told).toEqual(vector.expect);
  });

  const steps: { readonly [D in StateStep['do']]: (document: UIDocument, state: State, step: StateStep) => State } = {
    update: (document, state, { changes }) => updateState(document, state, values(changes)),
    run: (document, state, { action }) => runAction(document, state, action),
    map: (document, state, { action, result }) => mapResult(document, state, action, result),
    restore: (document, _, { saved }) => restoreState(document, typeof saved === 'object' && saved !== null && !Array.isArray(saved) ? values(saved as Values) : saved),
    arguments: (document, _, { action, values: sent }) => actionArguments(document, action, values(sent)),
  };

  test.each(states as unknown as readonly { id: string; document: Text; state?: Values; steps: readonly StateStep[] }[])('state: $id', (vector) => {
    const { document } = judge(expanded(vector.document));
    let state = vector.state ? (values(vector.state) as State) : initialState(document);
    for (const step of vector.steps) {
      const before = structuredClone(state);
      const came = attempt(() => steps[step.do](document, state, step));
      if ('refusal' in came) {
        expect(came.refusal, JSON.stringify(step)).toEqual(step.expect);
        expect(state).toEqual(before);
      } else {
        expect(step.expect).not.toHaveProperty('code');
        const expected = step.expect[step.do === 'arguments' ? 'arguments' : 'state'];
        if (expected) expect(came.made).toEqual(values(expected as Values));
        if (step.do !== 'arguments') state = came.made;
      }
    }
  });

  test.each(patches as readonly { id: string; document: Text; patch: Text; expect: Expected }[])('patches: $id', async (vector) => {
    const { document } = judge(expanded(vector.document));
    const found = await verdict(() => applyPatch(document, JSON.parse(expanded(vector.patch))));
    expect('sha256' in vector.expect ? found : { ...found, ...('ok' in found ? { sha256: undefined } : {}) }).toEqual(vector.expect);
  });

  test.each(streams as unknown as readonly { id: string; document: Text; frames: readonly { frame: Readonly<Record<string, unknown>>; expect: Expected }[] }[])('streams: $id', (vector) => {
    let generation = openGeneration('g', judge(expanded(vector.document)), 1);
    for (const { frame, expect: expected } of vector.frames) {
      const { operations, document, ...rest } = frame as { kind: FrameKind; generation: string; epoch: number; seq: number; baseRevision: number; operations?: unknown; document?: unknown };
      const came = attempt(() => take(generation, { ...rest, body: operations ?? document }));
      if ('refusal' in came) {
        expect(came.refusal, JSON.stringify(frame)).toEqual(expected);
        continue;
      }
      generation = came.made.generation;
      const { seq, revision, status } = generation;
      expect({ outcome: came.made.outcome, seq, revision, status }, JSON.stringify(frame)).toEqual(expected);
    }
  });
});

/**
 * One streamed generation of a document, as a table and what each frame does (design §12).
 *
 * INVARIANT: what is shown is always one whole legal document. A frame is taken whole, or it leaves the generation and
 * its own number as they were; the same frame again, or one that comes late, changes nothing.
 */

import { byteLength, canonical, hex } from './canonical.js';
import { offersOf, type Offers } from './domains.js';
import { Refused, refused } from './faults.js';
import { judgeValue, type Judged } from './judge.js';
import { nodesOf } from './nodes.js';
import { applyPatch } from './patches.js';
import { cut } from './pointers.js';
import { assertSafeJSON } from './safe.js';
import { sha256 } from './sha256.js';
import { LIMITS } from './table.js';
import type { DocumentKind, UIDocument } from './types.js';

export type Status = 'streaming' | 'complete' | 'cancelled';
export type FrameKind = 'patch' | 'checkpoint' | 'complete' | 'cancel';

/** What a frame makes of a generation's status. Where a pair is missing, the frame comes late. */
export const FRAME_TABLE: { readonly [S in Status]: { readonly [K in FrameKind]?: Status } } = {
  streaming: { patch: 'streaming', checkpoint: 'streaming', complete: 'complete', cancel: 'cancelled' },
  complete: {},
  cancelled: {},
};

export interface Frame {
  readonly generation: string;
  /** Of the gateway's process: a restart ends it. */
  readonly epoch: number;
  readonly seq: number;
  readonly baseRevision: number;
  readonly kind: FrameKind;
  /** Of a patch its operations, of a checkpoint the whole document. */
  readonly body?: unknown;
}

export interface Generation {
  readonly id: string;
  readonly epoch: number;
  /** What every snapshot must be; without it either will do. */
  readonly kind: DocumentKind | undefined;
  readonly status: Status;
  /** The present snapshot. */
  readonly shown: Judged;
  /** Of the last frame taken; 0 is the one that opened it. */
  readonly seq: number;
  readonly revision: number;
  /** How many snapshots there were. */
  readonly frames: number;
  /** Canonical bytes of all of them. */
  readonly bytes: number;
  /** SHA-256 of each frame's content, by `seq`. */
  readonly digests: ReadonlyMap<number, string>;
  /** All that Selects offered so far. */
  readonly offers: Offers;
}

/** What became of a frame, and the generation after it. */
export interface Step {
  readonly outcome: 'accepted' | 'repeated' | 'late';
  readonly generation: Generation;
}

/** Invokes are closed until it is complete: nobody agrees to what still changes. */
export const mayInvoke = ({ status }: Generation): boolean => status === 'complete';

/** Begins a generation with its first snapshot. Throws `Refused` if the document's version has no streaming. */
export function openGeneration(id: string, shown: Judged, epoch: number, kind?: DocumentKind): Generation {
  if (shown.document.version === '1.0') throw refused('document.not_in_version', '/version');
  return {
    id, epoch, kind, shown, status: 'streaming', seq: 0, revision: 1, frames: 1,
    bytes: byteLength(shown.canonical), digests: new Map(), offers: offersOf(shown.document),
  };
}

/** Judges one frame; the generation given stays as it is. Throws `Refused` for one that is not taken. */
export function take(generation: Generation, frame: Frame): Step {
  if (frame.generation !== generation.id) throw refused('document.frame_generation', '/generation');
  if (frame.epoch !== generation.epoch) throw refused('document.frame_epoch', '/epoch');
  const digest = contentOf(frame);
  if (frame.seq <= generation.seq) {
    const taken = generation.digests.get(frame.seq);
    if (taken !== undefined && taken !== digest) throw refused('document.frame_conflict', '/seq');
    return { outcome: taken === undefined ? 'late' : 'repeated', generation };
  }
  const status = FRAME_TABLE[generation.status][frame.kind];
  if (!status) return { outcome: 'late', generation };
  // A checkpoint is whole: whatever was lost before it, it stands for.
  const heals = frame.kind === 'checkpoint';
  if (frame.seq !== generation.seq + 1 && !heals) throw refused('document.frame_gap', '/seq');
  if (frame.baseRevision !== generation.revision && !(heals && frame.baseRevision > generation.revision)) throw refused('document.frame_base', '/baseRevision');
  const next = SNAPSHOTS[frame.kind] ? shownNext(generation, frame) : generation;
  return { outcome: 'accepted', generation: { ...next, status, seq: frame.seq, digests: new Map([...generation.digests, [frame.seq, digest]]) } };
}

type Snapshot = (generation: Generation, body: unknown) => Judged;

const options = ({ kind }: Generation) => (kind ? { kind } : {});

/** The document a frame leads to; the others bring none. */
const SNAPSHOTS: { readonly [K in FrameKind]?: Snapshot } = {
  patch: (generation, body) => applyPatch(generation.shown.document, body, options(generation)),
  checkpoint: (generation, body) => judgeValue(body, options(generation)),
};

function shownNext(generation: Generation, { kind, baseRevision, body }: Frame): Generation {
  const frames = generation.frames + 1;
  if (frames > LIMITS.generation_frames) throw refused('document.frame_budget');
  const shown = (SNAPSHOTS[kind] as Snapshot)(generation, body);
  assertFixed(generation, shown.document);
  const bytes = generation.bytes + byteLength(shown.canonical);
  if (bytes > LIMITS.generation_bytes) throw refused('document.frame_budget');
  return { ...generation, shown, frames, bytes, revision: baseRevision + 1, offers: new Map([...generation.offers, ...offersOf(shown.document)]) };
}

/** The SHA-256 of what the frame says; what is no JSON says only that. */
function contentOf({ kind, baseRevision, body = null }: Frame): string {
  try {
    return hex(sha256(new TextEncoder().encode(canonical([kind, baseRevision, assertSafeJSON(body)]))));
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

const FIXED = ['version', 'state', 'derived', 'actions'] as const;

const textOf = (part: unknown): string => canonical(assertSafeJSON(part ?? {}));

/** What a person may have begun to use stays what it is as long as the generation lasts. */
function assertFixed({ shown: { document: present }, offers }: Generation, next: UIDocument): void {
  for (const name of FIXED) if (textOf(present[name]) !== textOf(next[name])) throw refused('document.declarations_changed', `/${name}`);
  if (present.root.id !== next.root.id) throw refused('document.declarations_changed', '/root/id');
  const types = new Map(Array.from(nodesOf(present), ({ node }) => [node.id, node.type]));
  const offered = offersOf(next);
  for (const { node, at } of nodesOf(next)) {
    if ((types.get(node.id) ?? node.type) !== node.type) throw refused('document.declarations_changed', cut(`${at}/type`));
    if (node.type !== 'Select') continue;
    const values = offered.get(node.props.field);
    const before = offers.get(node.props.field) ?? values;
    if (before?.size !== values?.size || ![...(values ?? [])].every((value) => before?.has(value))) throw refused('document.declarations_changed', cut(`${at}/props/options`));
  }
}

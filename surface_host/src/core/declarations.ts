/** The snapshot of declarations: cut into parts, acknowledged, compared. */

import type { CapsAckFrame, Declaration, OutFrame, Rejected } from '../protocol/frames.js';
import { byteLength } from './json.js';
import type { Registration } from './registry.js';

export const PART_LIMIT = 256 * 1024;
/** What the frame around the list takes. */
const FRAME_ROOM = 256;

export type CapsFrame = Extract<OutFrame, { type: 'caps' }>;

export interface Declarations {
  /** The frames of a new snapshot, or none if the gateway already has this one. */
  snapshot(): CapsFrame[];
  /** True if the answer belongs to the newest snapshot. */
  ack(frame: CapsAckFrame): boolean;
  /** What the gateway calls this exact registration; undefined before it was acknowledged. */
  fingerprint(registration: Registration): string | undefined;
  /** Forgets what was sent, not what was acknowledged: the next connection starts with a snapshot. */
  reconnect(): void;
  readonly waiting: boolean;
}

export function createDeclarations(
  all: () => readonly Registration[],
  onRejected: (rejected: readonly Rejected[]) => void,
  hosted: ReadonlyMap<string, Registration> = new Map(),
): Declarations {
  const fingerprints = new Map<string, string>();
  let seq = 0;
  let sent: string | undefined;
  let inFlight: Map<string, string> | undefined;

  return {
    snapshot() {
      // A page's own under a name of the host's is nobody's: the gateway refuses it, and here it is not even said.
      const registrations = all().filter(({ declaration }) => !hosted.has(declaration.id));
      const key = registrations.map(({ text }) => text).join();
      if (key === sent) return [];
      sent = key;
      const groups: Declaration[][] = [[]];
      let size = 0;
      for (const { declaration, text } of registrations) {
        const bytes = byteLength(text) + 1;
        if (size + bytes > PART_LIMIT - FRAME_ROOM) {
          groups.push([]);
          size = 0;
        }
        groups[groups.length - 1]?.push(declaration);
        size += bytes;
      }
      seq += 1;
      inFlight = new Map([...registrations, ...hosted.values()].map(({ declaration, text }) => [declaration.id, text]));
      const host = hosted.size ? { host: [...hosted.keys()] } : {};
      return groups.map((capabilities, index) => ({ type: 'caps', seq, part: index + 1, parts: groups.length, capabilities, ...(index ? {} : host) }));
    },
    ack(frame) {
      if (frame.seq !== seq || !inFlight) return false;
      fingerprints.clear();
      for (const [id, fingerprint] of Object.entries(frame.accepted)) {
        const text = inFlight.get(id);
        if (text !== undefined) fingerprints.set(text, fingerprint);
      }
      inFlight = undefined;
      if (frame.rejected.length) onRejected(frame.rejected);
      return true;
    },
    fingerprint: (registration) => fingerprints.get(registration.text),
    reconnect() {
      sent = undefined;
      inFlight = undefined;
    },
    get waiting() {
      return inFlight !== undefined;
    },
  };
}

/** The snapshot of declarations: cut into parts, acknowledged, compared. */

import type { CapsAckFrame, Declaration, OutFrame, Rejected } from '../protocol/frames.js';
import { byteLength } from './json.js';
import type { Registration } from './registry.js';

export const PART_LIMIT = 256 * 1024;
export const MOST_CAPABILITIES = 500;
export const DECLARATION_LIMIT = 16 * 1024;
export const SNAPSHOT_LIMIT = 2 * 1024 * 1024;

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

export function createDeclarations(all: () => readonly Registration[], onRejected: (rejected: readonly Rejected[]) => void): Declarations {
  const fingerprints = new Map<string, string>();
  let seq = 0;
  let sent: string | undefined;
  let inFlight: Map<string, string> | undefined;

  const admit = (): { readonly kept: readonly Registration[]; readonly refused: readonly Rejected[] } => {
    const kept: Registration[] = [];
    const refused: Rejected[] = [];
    let total = 0;
    for (const registration of all()) {
      const bytes = byteLength(registration.text);
      // The limits of the wire, applied per capability so that one never hides its siblings.
      if (bytes > DECLARATION_LIMIT) refused.push({ id: registration.declaration.id, code: 'declaration_too_large', pointer: '' });
      else if (kept.length >= MOST_CAPABILITIES || total + bytes > SNAPSHOT_LIMIT) {
        refused.push({ id: registration.declaration.id, code: 'too_many_capabilities', pointer: '' });
      } else {
        kept.push(registration);
        total += bytes;
      }
    }
    return { kept, refused };
  };

  return {
    snapshot() {
      const { kept, refused } = admit();
      const key = kept.map((registration) => registration.text).join('\n');
      if (key === sent) return [];
      sent = key;
      if (refused.length) onRejected(refused);
      const groups: Declaration[][] = [[]];
      let size = 0;
      for (const registration of kept) {
        const bytes = byteLength(registration.text) + 1;
        if (size + bytes > PART_LIMIT - 256) {
          groups.push([]);
          size = 0;
        }
        groups[groups.length - 1]?.push(registration.declaration);
        size += bytes;
      }
      seq += 1;
      inFlight = new Map(kept.map((registration) => [registration.declaration.id, registration.text]));
      return groups.map((capabilities, index) => ({ type: 'caps', seq, part: index + 1, parts: groups.length, capabilities }));
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

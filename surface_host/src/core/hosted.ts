/**
 * What the host itself can do, by the ids the gateway declares it under.
 *
 * The page names what its browser supports and words nothing: title, schemas and risk are the gateway's.
 */

import type { CallContext, Verdict } from './capability.js';
import type { Registration } from './registry.js';

export const HOSTED = ['app.open_url', 'clipboard.write', 'device.pick_file', 'artifact.save', 'notification.show'] as const;

export type HostedId = (typeof HOSTED)[number];

/** What does the work; loaded when the first of them is asked for. */
export interface Pack {
  available(id: HostedId): Verdict;
  run(id: HostedId, input: unknown, context: CallContext): Promise<unknown>;
}

/** Registrations of `ids`; they answer before anything a page registers under the same name. */
export function createHosted(ids: readonly HostedId[], load: () => Promise<Pack>): ReadonlyMap<string, Registration> {
  const hosted = (id: HostedId): Registration => ({
    text: `host:${id}`,
    declaration: { id, description: '', input_schema: {} },
    capability: {
      id,
      description: '',
      inputSchema: {},
      // Asked before the prompt: by the time of the click that approves it, what does the work is there.
      available: async () => (await load()).available(id),
      handler: async (input, context) => (await load()).run(id, input, context),
    },
  });
  return new Map(ids.map((id) => [id, hosted(id)]));
}

/** The page's records, as a window for whoever may read them. */

import type { ContextWindow, DescribeFrame, Json } from '../protocol/frames.js';
import type { Capability } from './capability.js';
import { checkJson } from './json.js';

export interface PageRecord {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface PageContext {
  /** For people reading the code; the gateway takes the app's name from the site. */
  readonly app?: string;
  readonly records?: readonly PageRecord[];
}

export type ContextSource = PageContext | (() => PageContext);

/** The fields are windowed; the ids never are, so an agent can name any record. */
export function windowOf(source: ContextSource, ask: Pick<DescribeFrame, 'limit' | 'offset' | 'ids'>): ContextWindow {
  const { records = [] } = typeof source === 'function' ? source() : source;
  const recordIds = records.map((record, index) => {
    if (typeof record.id !== 'string') throw new TypeError(`record ${index}: \`id\` must be text`);
    return record.id;
  });
  const wanted = ask.ids && new Set(ask.ids);
  const chosen = wanted ? records.filter((record) => wanted.has(record.id)) : records;
  const end = ask.offset + ask.limit;
  const shown = chosen.slice(ask.offset, end).map((record, index): Json => {
    const check = checkJson(record);
    if (!check.ok) throw new TypeError(`record ${ask.offset + index}: \`${check.pointer}\` is ${check.reason}`);
    return check.value;
  });
  const recordWindow = { offset: ask.offset, limit: ask.limit, total: chosen.length, next: end < chosen.length ? end : null };
  return { records: shown, recordIds, recordWindow };
}

/** Ids of what says no right now. A check that throws counts as a no. */
export async function unavailableOf(capabilities: readonly Capability[]): Promise<string[]> {
  const answers = await Promise.all(
    capabilities.map(async (capability) => {
      try {
        const verdict = await capability.available?.();
        return verdict === false || typeof verdict === 'string' ? capability.id : undefined;
      } catch {
        return capability.id;
      }
    }),
  );
  return answers.filter((id) => id !== undefined);
}

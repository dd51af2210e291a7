/** The ticket of the one-script form: the site's own backend decides from the site's own cookie. */

import { isRecord } from '../protocol/guards.js';

export async function fetchTicket(url: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    credentials: 'same-origin',
    mode: 'same-origin',
    cache: 'no-store',
    headers: { Accept: 'application/json' },
  });
  const body: unknown = response.ok ? await response.json() : null;
  if (!isRecord(body) || typeof body.ticket !== 'string') throw new Error(`no ticket from \`${url}\` (status ${response.status})`);
  return body.ticket;
}

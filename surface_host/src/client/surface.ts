/**
 * The in-page client's line to the gateway: one MessagePort per client.
 *
 * The port is the credential, so nothing here adds or reads identity. Every request gets exactly one answer,
 * an honest error if the connection went away in between.
 */

import { isRecord } from '../protocol/guards.js';
import { checkJson } from '../core/index.js';
import { SURFACE_PROTOCOL, type Json, type OutFrame } from '../protocol/frames.js';

export interface SurfaceClients {
  open(): MessagePort;
  reply(id: string, envelope: Json): void;
  /** The connection is gone: nobody will answer what was sent over it. */
  disconnected(): void;
  close(): void;
}

interface Waiting {
  readonly port: MessagePort;
  readonly id: Json;
}

export function createSurfaceClients(send: (frame: OutFrame) => boolean, newId: () => string): SurfaceClients {
  const waiting = new Map<string, Waiting>();
  const ports = new Set<MessagePort>();

  const fail = ({ port, id }: Waiting, code: string, message: string): void =>
    port.postMessage({ protocol: SURFACE_PROTOCOL, id, ok: false, error: { code, message } });

  return {
    open() {
      const { port1: port, port2 } = new MessageChannel();
      ports.add(port);
      port.onmessage = ({ data }: MessageEvent<unknown>) => {
        const check = checkJson(data);
        const envelope = check.ok && isRecord(check.value) ? check.value : undefined;
        const given = envelope?.id;
        const request: Waiting = { port: port, id: typeof given === 'string' ? given : null };
        if (!check.ok || !envelope) return fail(request, 'BAD_REQUEST', 'an envelope is a JSON object');
        const id = newId();
        waiting.set(id, request);
        if (send({ type: 'surface', id, envelope: check.value })) return;
        waiting.delete(id);
        fail(request, 'page_not_connected', 'the page has no connection to the gateway; send it again later');
      };
      return port2;
    },
    reply(id, envelope) {
      const request = waiting.get(id);
      waiting.delete(id);
      request?.port.postMessage(envelope);
    },
    disconnected() {
      for (const request of waiting.values()) {
        fail(request, 'outcome_unknown', 'the connection went away before the answer; ask for the status with the same call_id');
      }
      waiting.clear();
    },
    close() {
      this.disconnected();
      for (const port of ports) port.close();
      ports.clear();
    },
  };
}

export type ConnectionState = 'connecting' | 'connected' | 'waiting' | 'stopped';

export type StatusCode =
  | 'ticket_unavailable'
  | 'ticket_refused'
  | 'origin_refused'
  | 'replaced'
  | 'revoked'
  | 'unreachable'
  | 'LOCAL_NETWORK_BLOCKED'
  | 'closed';

export interface Status {
  readonly state: ConnectionState;
  /** Why it is not connected, where that is known. */
  readonly code?: StatusCode;
}

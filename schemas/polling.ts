import type { SpanRef } from './span.ts';
import type { EpochMicros, PollOutcome } from './rows.ts';
import type { WatchedOrder } from './watch.ts';

/** The four status endpoints (interface document, sections 4.3-4.5). */
export const ENDPOINTS = [
  'deposit-status',
  'deposit-status-by-transaction',
  'withdrawal-status',
  'withdrawal-status-by-transaction',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export function endpointOf(order: Pick<WatchedOrder, 'orderType' | 'idKind'>): Endpoint {
  const base = order.orderType === 'Deposit' ? 'deposit-status' : 'withdrawal-status';
  return order.idKind === 'external-id' ? base : `${base}-by-transaction`;
}

/** One reply of the gateway, or the lack of one, before anything is decoded. */
export interface HttpReply {
  readonly httpStatus: number | null;
  /** By HTTP status alone: `ok` says only that there is a body to decode. */
  readonly outcome: PollOutcome;
  /**
   * `timeout`, `connection`, `dns`, `tls`, `http_503`, `truncated`, `too_large`, ...; '' when there is
   * nothing to say.
   */
  readonly errorType: string;
  readonly body: string | null;
  readonly bodyBytes: number;
  readonly retryAfterMs: number | null;
  /** The collector's own span of the request, where it is recorded. @default none */
  readonly ownSpan?: SpanRef;
}

/** How the reading of one gateway's orders goes. */
export interface PollerStatus {
  readonly watched: number;
  readonly due: number;
  readonly inFlight: number;
  /** Requests at once that the configuration allows. */
  readonly concurrencyLimit: number;
  /** Requests begun since the process started. */
  readonly requests: number;
  /** Requests a second that the configuration allows. */
  readonly requestsPerSecondLimit: number;
  readonly circuitsOpen: number;
  /** For how long nothing has been read although orders are due and the gateway may be asked; 0 otherwise. */
  readonly stalledMs: number;
  /** For how long the gateway has asked for pauses, and answered nothing else; 0 while it does not. */
  readonly pausedMs: number;
  /** The instant up to which this collector's view of the gateway is complete. */
  readonly watermarkAt: EpochMicros;
  readonly lastReplyAt: EpochMicros | null;
  /** How far the gateway's history is dated ahead of our clock, or behind it (negative); null: unknown. */
  readonly clockSkewSeconds: number | null;
}

/** One request and its answer, as they pass a link. */
export interface Exchange {
  /** What it is, e.g. `insert history_events_store`, `ddl`, `status`, `OffsetCommit`. */
  readonly name: string;
  /** Bytes of the request that came from the client so far. */
  requestBytes: number;
  /** HTTP status, or Kafka's error code where it is looked at; null before the answer. */
  status: number | null;
  /** ClickHouse's error number in the answer's head; null without one. */
  errorCode: number | null;
  /** The generation that a Kafka member joined; null for all else. */
  generation: number | null;
}

/**
 * Where a connection is cut. `request`: its first bytes came, none went on. `half-request`: half of the bytes
 * in hand went on. `answer`: the answer's head came, none went on. `half-answer`: half of the bytes in hand
 * went on.
 */
export type Moment = 'request' | 'half-request' | 'answer' | 'half-answer';

/** Waits for an exchange, does something at that very moment, and cuts the connection. */
export interface Trap {
  readonly moment: Moment;
  readonly matches: (exchange: Exchange) => boolean;
  /** Called once, before a byte more can pass. */
  readonly fire: (exchange: Exchange) => void;
}

/** What becomes of bytes that arrived. */
export interface Passage {
  readonly forward: readonly Buffer[];
  /** Both sides are reset once the bytes are out; then this is called. */
  readonly cut?: () => void;
}

/** Understands the protocol on one connection. */
export interface Tap {
  up(chunk: Buffer): Passage;
  down(chunk: Buffer): Passage;
}

/** What a link offers to its taps. */
export interface TapHost {
  /** Takes the first trap that waits for this, if any. */
  spring(moment: Moment, exchange: Exchange): Trap | null;
  /** The request began to arrive. */
  asked(exchange: Exchange): void;
  /** The answer went on to the client. */
  answered(exchange: Exchange): void;
}

export function newExchange(name: string): Exchange {
  return { name, requestBytes: 0, status: null, errorCode: null, generation: null };
}

export const pass = (chunk: Buffer): Passage => ({ forward: [chunk] });

/**
 * Springs a trap that waits for this piece: a whole one lets nothing of it pass, a half one the head and half
 * of the rest. Null: no trap waited.
 */
export function cutAt(
  host: TapHost,
  side: 'request' | 'answer',
  exchange: Exchange,
  { head, rest, first }: { head: Buffer; rest: Buffer; first: boolean },
): Passage | null {
  const trap = first ? host.spring(side, exchange) : null;
  if (trap !== null) {
    trap.fire(exchange);
    return { forward: [], cut: () => undefined };
  }
  if (rest.length < 2) return null;
  const half = host.spring(side === 'request' ? 'half-request' : 'half-answer', exchange);
  if (half === null) return null;
  return { forward: [head, rest.subarray(0, rest.length >> 1)], cut: () => half.fire(exchange) };
}

export const NO_BYTES: Buffer = Buffer.alloc(0);

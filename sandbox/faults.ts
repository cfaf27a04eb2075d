import type { OrderType } from '../schemas/dictionary.ts';
import { createRandom } from './random.ts';
import type { SigningName } from './signing.ts';

/**
 * Everything that can be made to go wrong on the wire. `kind` says when it is drawn: for each request, for
 * each new order's history, for each callback, or for each message that names a new
 * order to the merchant's watch address.
 */
export const FAULTS = {
  timeout: {
    kind: 'request',
    effect: 'never answers; the connection is closed after delayMs (default 120000)',
  },
  slow: { kind: 'request', effect: 'answers after delayMs (default 3000)' },
  connection_reset: { kind: 'request', effect: 'resets the connection instead of answering' },
  truncated_body: { kind: 'request', effect: 'closes the connection in the middle of the body' },
  truncated_json: { kind: 'request', effect: 'a complete reply with half of the JSON' },
  http_401: { kind: 'request', effect: '401 Unauthorized' },
  http_403: { kind: 'request', effect: '403 Forbidden - Endpoint' },
  http_403_ip: { kind: 'request', effect: '403 Forbidden - IP address' },
  http_423: { kind: 'request', effect: '423 Temporary error' },
  http_429: { kind: 'request', effect: '429 with Retry-After (retryAfterSeconds, default 2)' },
  http_499: { kind: 'request', effect: '499' },
  http_500: { kind: 'request', effect: '500 Internal Server Error' },
  http_503: {
    kind: 'request',
    effect: '503 Service unavailable, with Retry-After where retryAfterSeconds is given',
  },
  early_hints: { kind: 'request', effect: '100 Continue and 103 Early Hints come before the reply' },
  limit_reached: { kind: 'request', effect: '400 Limit was reached (create only)' },
  id_mismatch: { kind: 'request', effect: "the reply carries another order's externalId (status only)" },
  out_of_order_items: { kind: 'request', effect: 'orderHistory is shuffled (status only)' },
  http_404: { kind: 'request', effect: '404 Not found, though the order is there (status only)' },
  status_stale: {
    kind: 'request',
    effect: 'orderStatus stays Processing, whatever the history says (status only)',
  },
  history_item_lost: { kind: 'request', effect: 'orderHistory lacks its second item (status only)' },
  callback_unrecorded: {
    kind: 'request',
    effect: 'orderHistory lacks the merchant callback, stage 6 (status only)',
  },
  failed_before_success: {
    kind: 'history',
    effect: 'new orders that succeed have 4.1.4.00 a moment before',
  },
  never_decided: { kind: 'history', effect: 'new orders stay in processing: 4.2.2.13 is their last item' },
  unknown_code: { kind: 'history', effect: 'new orders get 1.2.4.18 or 7.0.0.00 in their history' },
  legacy_code: { kind: 'history', effect: 'new orders get 10.2.31.4 in their history' },
  new_move: {
    kind: 'history',
    effect: 'new orders that end have two codes one after the other as no other order has them',
  },
  late_items: { kind: 'history', effect: 'new orders get items that appear up to 10 minutes after the end' },
  callback_wrong_signature: { kind: 'callback', effect: 'the Signature header is made with another key' },
  callback_signed_otherwise: {
    kind: 'callback',
    effect:
      'signed by other rules than those of the interface: `signing` names which (default amount_without_zeros, for amounts that end in zeros)',
  },
  callback_missing_signature: { kind: 'callback', effect: 'no Signature header' },
  callback_missing: { kind: 'callback', effect: 'the callback is never sent' },
  callback_duplicate: { kind: 'callback', effect: 'the callback is sent twice' },
  callback_other_amount: { kind: 'callback', effect: 'the amount is by 1 more than in replies; signed' },
  callback_other_status: {
    kind: 'callback',
    effect: 'one of a final status comes a second time with the other final status; signed',
  },
  callback_other_currency: { kind: 'callback', effect: 'the currency is another one; not signed' },
  callback_rewritten: {
    kind: 'callback',
    effect: 'comes a second time with another cardHolder under the same signature',
  },
  callback_replayed: { kind: 'callback', effect: 'comes again after delayMs (default 7200000)' },
  callback_delayed: {
    kind: 'callback',
    effect: 'held back by up to delayMs (default 10000): callbacks change places',
  },
  watch_missing: { kind: 'watch', effect: 'the watch address gets no message of the order' },
  watch_other_amount: { kind: 'watch', effect: 'the watch address gets an amount that is by 1 more' },
  watch_other_currency: { kind: 'watch', effect: 'the watch address gets another currency' },
} as const satisfies Record<string, { kind: FaultKind; effect: string }>;

export type FaultKind = 'request' | 'history' | 'callback' | 'watch';
export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

export interface FaultRequest {
  readonly name: FaultName;
  /** @default 1 */
  readonly probability?: number;
  /** @default until removed */
  readonly forSeconds?: number;
  /** Only create requests, or only status requests. @default both */
  readonly endpoint?: 'create' | 'status';
  /** @default both */
  readonly orderType?: OrderType;
  /** Only orders of this channel. @default all */
  readonly channel?: string;
  /** Only orders whose latest visible item is of this stage, 1-6. @default all */
  readonly stage?: number;
  readonly delayMs?: number;
  /** Of `callback_signed_otherwise`. @default 'amount_without_zeros' */
  readonly signing?: SigningName;
  readonly retryAfterSeconds?: number;
  /**
   * Does the create request take effect although the merchant does not learn it (section 1: "the final state
   * is unknown")?
   * @default true for timeout, slow, connection_reset, truncated_*, 499, 500 and 503; else false
   */
  readonly processed?: boolean;
}

export interface ActiveFault extends FaultRequest {
  readonly id: string;
  readonly probability: number;
  readonly untilMs: number | null;
  /** How often it struck. */
  readonly applied: number;
}

/**
 * What a fault's scope is compared with. A field that is not known matches only faults without that scope.
 */
export interface FaultTarget {
  readonly endpoint?: 'create' | 'status';
  readonly orderType?: OrderType;
  readonly channel?: string;
  readonly stage?: number;
}

export interface FaultBoard {
  add(request: FaultRequest): ActiveFault;
  remove(id: string): boolean;
  list(): ActiveFault[];
  /** The first active fault of this kind which fits and whose chance comes up. */
  draw(kind: FaultKind, target: FaultTarget): ActiveFault | undefined;
  /** Every active fault of this kind which fits and whose chance comes up. */
  drawAll(kind: FaultKind, target: FaultTarget): ActiveFault[];
}

const ENDPOINT_ONLY: Partial<Record<FaultName, 'create' | 'status'>> = {
  limit_reached: 'create',
  id_mismatch: 'status',
  out_of_order_items: 'status',
  http_404: 'status',
  status_stale: 'status',
  history_item_lost: 'status',
  callback_unrecorded: 'status',
};

export function createFaultBoard(seed: string, now: () => number): FaultBoard {
  const faults = new Map<
    string,
    ActiveFault & { applied: number; random: ReturnType<typeof createRandom> }
  >();
  let added = 0;
  const active = () => {
    for (const [id, fault] of faults) if (fault.untilMs !== null && fault.untilMs <= now()) faults.delete(id);
    return [...faults.values()];
  };
  const board: FaultBoard = {
    add(request) {
      const id = `fault-${++added}`;
      const fault = {
        ...request,
        id,
        probability: request.probability ?? 1,
        untilMs: request.forSeconds === undefined ? null : now() + request.forSeconds * 1000,
        applied: 0,
        random: createRandom(seed, 'fault', added),
      };
      faults.set(id, fault);
      return shown(fault);
    },
    remove: (id) => faults.delete(id),
    list: () => active().map(shown),
    draw: (kind, target) => board.drawAll(kind, target)[0],
    drawAll(kind, target) {
      if (faults.size === 0) return [];
      return active().filter((fault) => {
        if (
          FAULTS[fault.name].kind !== kind ||
          !fits(fault, target) ||
          !fault.random.chance(fault.probability)
        )
          return false;
        fault.applied++;
        return true;
      });
    },
  };
  return board;
}

function fits(fault: FaultRequest, target: FaultTarget): boolean {
  const only = ENDPOINT_ONLY[fault.name];
  return (
    (only === undefined || only === target.endpoint) &&
    (fault.endpoint === undefined || fault.endpoint === target.endpoint) &&
    (fault.orderType === undefined || fault.orderType === target.orderType) &&
    (fault.channel === undefined || fault.channel === target.channel) &&
    (fault.stage === undefined || fault.stage === target.stage)
  );
}

function shown(fault: ActiveFault & { random?: unknown }): ActiveFault {
  const { random: _, ...rest } = fault;
  return rest;
}

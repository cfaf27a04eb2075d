import { FINDING_KIND_NAMES, type FindingKind } from '../schemas/findings.ts';
import type { FaultName } from './faults.ts';
import type { Life } from './life.ts';
import { createRandom } from './random.ts';

/**
 * Orders whose sources contradict each other. A fault strikes by chance, request by request; a contradiction
 * is drawn once for a new order, and its faults then last for all that the sandbox says of that order. At
 * most one for each order, so that whoever looks for contradictions can be laid beside what was done.
 */
export interface ContradictionRequest {
  readonly kind: FindingKind;
  /** Share of the new orders, 0 to 1. Orders that such a contradiction does not suit go on as they are. */
  readonly share: number;
  /** Of REPLAYED: how long after. @default 7200000 */
  readonly delayMs?: number;
}

export interface ActiveContradiction extends ContradictionRequest {
  readonly id: string;
  /** Orders that it was drawn for. */
  readonly orders: number;
}

/** What an order has been given. */
export interface Contradiction {
  readonly kind: FindingKind;
  /** The first one is what contradicts, the others take away what would explain it. */
  readonly faults: readonly FaultName[];
  /** Counts the orders of this kind, from 0. */
  readonly number: number;
  readonly delayMs?: number;
}

export interface ContradictionBoard {
  start(request: ContradictionRequest): ActiveContradiction;
  end(id: string): boolean;
  list(): ActiveContradiction[];
  /** What order number `sequence`, which is to live so, is given. */
  draw(sequence: number, life: Life): Contradiction | null;
}

/** The ways to provoke each kind, taken in turn. */
const WAYS: Readonly<Record<FindingKind, readonly (readonly FaultName[])[]>> = {
  CALLBACK_MISSING: [
    ['callback_missing'],
    ['callback_missing', 'callback_unrecorded'],
    ['callback_wrong_signature'],
  ],
  CALLBACK_WITHOUT_HISTORY: [['callback_unrecorded']],
  CALLBACK_FOR_UNKNOWN_ORDER: [['http_404', 'watch_missing'], ['http_404']],
  STATUS_DISAGREES: [['status_stale'], ['callback_other_status']],
  AMOUNT_DISAGREES: [['callback_other_amount'], ['watch_other_amount']],
  CURRENCY_DISAGREES: [['callback_other_currency'], ['watch_other_currency']],
  HISTORY_REWRITTEN: [['history_item_lost']],
  SUCCESS_AFTER_FAILED: [['failed_before_success']],
  STUCK_PROCESSING: [['never_decided']],
  SIGNATURE_CONFLICT: [['callback_rewritten']],
  REPLAYED: [['callback_replayed']],
  FIRST_SEEN_TRANSITION: [['new_move']],
};
export const CONTRADICTION_KINDS = FINDING_KIND_NAMES;

/** The history explains a changed amount, and an order that never ends has no end to report. */
function suits(kind: FindingKind, { final, amountChange }: Life): boolean {
  if (final === null || amountChange !== null) return false;
  return kind !== 'SUCCESS_AFTER_FAILED' || final.status === 'Success';
}

export function createContradictionBoard(seed: string): ContradictionBoard {
  const active = new Map<string, ActiveContradiction>();
  const drawn = new Map<FindingKind, number>();
  let started = 0;
  return {
    start(request) {
      const one = { ...request, id: `contradiction-${++started}`, orders: 0 };
      active.set(one.id, one);
      return one;
    },
    end: (id) => active.delete(id),
    list: () => [...active.values()],
    draw(sequence, life) {
      if (active.size === 0) return null;
      let left = createRandom(seed, 'contradiction', sequence).next();
      for (const one of active.values()) {
        left -= one.share;
        if (left >= 0) continue;
        const { kind, delayMs } = one;
        if (!suits(kind, life)) return null;
        active.set(one.id, { ...one, orders: one.orders + 1 });
        const number = drawn.get(kind) ?? 0;
        drawn.set(kind, number + 1);
        const ways = WAYS[kind];
        const faults = ways[number % ways.length] ?? [];
        return { kind, faults, number, ...(delayMs === undefined ? {} : { delayMs }) };
      }
      return null;
    },
  };
}

/** The codes of group TECH and AUTHZ in a place where no other order has them. */
const RARE_CODES = [1, 2].flatMap((tens) => Array.from({ length: 9 }, (_, n) => `2.2.2.${tens}${n + 1}`));

/** Two codes, one after the other as in no other order: 324 pairs. */
export function rareMove(number: number): readonly [string, string] {
  const at = (n: number): string => RARE_CODES[n % RARE_CODES.length] ?? '';
  return [at(Math.floor(number / RARE_CODES.length)), at(number)];
}

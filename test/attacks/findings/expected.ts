import type { OrderTruth } from '../../../sandbox/truth.ts';
import type { FindingKind } from '../../../schemas/findings.ts';

/**
 * What there is to be found, worked out from what the sandbox says it did. Nothing of the product is asked:
 * codes are read here once more.
 */
export interface Expected {
  /** Orders by kind. */
  readonly orders: ReadonlyMap<FindingKind, ReadonlySet<string>>;
  /** New moves between codes, and the orders that make them; one of these is to be named. */
  readonly moves: ReadonlyMap<string, ReadonlySet<string>>;
  /** Moves that are new or not by which of two items of one instant comes first. */
  readonly unsure: ReadonlySet<string>;
}

const V2 = /^([1-6])\.([0-2])\.([0-4])\.(\d\d)$/;
const isFinal = (action: string): boolean => ['3', '4'].includes(V2.exec(action)?.[3] ?? '');
/** The payer submitted, or somebody checked, or the state says so. */
const isInProcessing = (action: string): boolean => {
  const [, stage = '', , state, reason] = V2.exec(action) ?? [];
  return reason === '55' || ['4', '5'].includes(stage) || state === '2';
};

/** @param learntUntil orders up to this number are those that moves were learnt from */
export function expectedOf(truth: readonly OrderTruth[], learntUntil: number): Expected {
  const orders = new Map<FindingKind, Set<string>>();
  const add = (kind: FindingKind, id: string): void => {
    orders.set(kind, (orders.get(kind) ?? new Set()).add(id));
  };
  for (const { externalId, contradiction, items } of truth) {
    if (contradiction !== null && contradiction.kind !== 'FIRST_SEEN_TRANSITION')
      add(contradiction.kind, externalId);
    const actions = items.map(({ action }) => action);
    if (!actions.some(isFinal) && actions.some(isInProcessing)) add('STUCK_PROCESSING', externalId);
  }
  return { orders, ...newMoves(truth, learntUntil) };
}

function newMoves(truth: readonly OrderTruth[], learntUntil: number) {
  const learnt = new Set<string>();
  const unsure = new Set<string>();
  const moves = new Map<string, Set<string>>();
  for (const { items, sequence, externalId } of truth) {
    if (!items.some(({ action }) => isFinal(action))) continue;
    const isTied = items.some(({ time }, n) => n > 0 && items[n - 1]?.time === time);
    for (const [n, { action }] of items.entries()) {
      const before = items[n - 1]?.action;
      if (before === undefined) continue;
      const move = `${before} -> ${action}`;
      if (sequence <= learntUntil) learnt.add(move);
      else if (!learnt.has(move)) moves.set(move, (moves.get(move) ?? new Set()).add(externalId));
    }
    if (!isTied) continue;
    for (const { action } of items)
      for (const { action: other } of items) unsure.add(`${action} -> ${other}`);
  }
  // A move is sure when some order without a tie makes it.
  for (const { items, sequence } of truth) {
    if (sequence <= learntUntil || items.some(({ time }, n) => n > 0 && items[n - 1]?.time === time))
      continue;
    for (const [n, { action }] of items.entries()) unsure.delete(`${items[n - 1]?.action} -> ${action}`);
  }
  return { moves, unsure };
}

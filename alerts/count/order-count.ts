import { sqlList } from '../../schemas/measures.ts';

/** What a rule counts, as data. Its SQL is in order-facts.ts. */
export interface OrderCount {
  readonly from: OrderSource;
  /**
   * Narrows the rows that are read: over history items; for `finished`, over `outcome` and the deciding
   * item's reason.
   */
  readonly where?: string;
  /** Name of the label column beside `gateway`; null: none, and exactly one count. */
  readonly splitBy: 'stage' | 'reason' | 'side' | 'state' | 'slower_than' | null;
  readonly counts: readonly LabelCount[];
  /**
   * Where windows end. `watermark`: where the gateway's does. `late`: earlier by the measured lateness, for
   * counts to which a late item looks like a missing one. `wall`: now, for our own observations, which do not
   * depend on what the gateway has reported.
   * @default watermark
   */
  readonly clock?: 'watermark' | 'late' | 'wall';
}

export interface LabelCount {
  readonly label: string;
  /** Condition under which an order belongs to n. @default every row */
  readonly seen?: string;
  /** Condition under which it is affected. Implies `seen`. */
  readonly hit: string;
  /** Of a threshold: orders that took longer are affected. */
  readonly slowerThanSeconds?: number;
}

export type OrderSource =
  /** History items. */
  | { readonly kind: 'items' }
  /**
   * Orders by their deciding item; conditions read `outcome`, `reason_group`, `reason_code`, `state`,
   * `was_submitted` (the payer submitted the form) and `took_seconds`: from there, or of an order without a
   * form from its first item, to the deciding item. NULL where a form was shown and never submitted; negative
   * where the gateway's clock was set back in between.
   */
  | { readonly kind: 'finished' }
  /** Orders that callbacks came for, by `verdict`, at the time of their arrival. */
  | { readonly kind: 'callbacks' }
  /** Our own status requests, by `outcome` and `error_type`. */
  | { readonly kind: 'polls' }
  /** Orders that we asked for, re-reads left out; conditions read `not_found`: none but 404 came of it. */
  | { readonly kind: 'asked' }
  /** Orders that entered processing `afterSeconds` before; conditions read `decided`. */
  | { readonly kind: 'processing'; readonly afterSeconds: number }
  /**
   * Orders that came into their last state `afterSeconds` before, late repeats of it left out; conditions
   * read `confirmed` and `state`.
   */
  | { readonly kind: 'confirmed'; readonly afterSeconds: number }
  /** Orders decided; conditions read `reversed`: paid after they had failed. */
  | { readonly kind: 'reversed' }
  /**
   * Orders whose decision we knew `judgedAfterSeconds` before; conditions read `reread`: did we read the
   * order again, at least `rereadFromSeconds` after we knew? Both hold for gateways whose settings, of these
   * names, say nothing else.
   */
  | { readonly kind: 'rereads'; readonly judgedAfterSeconds: number; readonly rereadFromSeconds: number };

/** The whole conditions of a label: what narrows the rule's rows is said again by a label's own `seen`. */
export function conditionsOf(
  { where }: Pick<OrderCount, 'where'>,
  { seen, hit }: LabelCount,
): { seen: string; hit: string } {
  const own = seen ?? where;
  if (own === undefined) return { seen: '1', hit };
  return { seen: own, hit: hit === '1' ? own : `(${own}) AND (${hit})` };
}

/** Labels of a count, in order. */
export const labelsOf = (count: OrderCount): string[] => count.counts.map(({ label }) => label);
/** Condition of a stage. */
export const atStage = (...stages: readonly string[]): string => `stage IN (${sqlList(stages)})`;
/** Condition of reasons. */
export const because = (...reasons: readonly number[]): string => `reason_code IN (${reasons.join(', ')})`;

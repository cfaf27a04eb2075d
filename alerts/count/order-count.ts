import { DECIDING, IN_PROCESSING, outcome, sqlList, sqlText, TIME_ORDER } from '../../schemas/measures.ts';
import { ARRIVALS, DELIVERIES, ITEMS, POLLS } from './tables.ts';

/**
 * What a rule counts, as data, and its SQL: one row per order, with the instants at which it was last seen
 * and last hit. All windows that end at the same instant then follow by comparing these two, and so do the
 * orders behind a page.
 */
export interface OrderCount {
  readonly from: OrderSource;
  /**
   * Narrows the rows that are read: over history items; for `finished`, over `outcome` and the deciding
   * item's reason.
   */
  readonly where?: string;
  /** Name of the label column beside `gateway`; null: none, and exactly one count. */
  readonly splitBy: 'stage' | 'reason' | 'side' | 'state' | null;
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
}

export type OrderSource =
  /** History items. */
  | { readonly kind: 'items' }
  /** Orders by their deciding item; conditions read `outcome`, `reason_group`, `reason_code`, `state`. */
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
  | { readonly kind: 'reversed'; readonly lookbackSeconds: number }
  /**
   * Orders whose decision we knew `judgedAfterSeconds` before; conditions read `reread`: did we read the
   * order again, at least `rereadFromSeconds` after we knew? Both hold for gateways whose settings, of these
   * names, say nothing else.
   */
  | { readonly kind: 'rereads'; readonly judgedAfterSeconds: number; readonly rereadFromSeconds: number };

/** A number, or SQL of one. */
export type Seconds = number | string;

/** Where an order count looks. */
export interface Scope {
  /** Condition on a time column: within the scope, or up to `secondsBefore` before it. */
  readonly within: (time: string, secondsBefore?: Seconds) => string;
  /**
   * Condition on the time of items: as far back of the scope's end as an order is looked at, which is the
   * same for whatever window the scope is.
   */
  readonly reach: (time: string, longestSeconds: number, secondsBefore: number) => string;
  /** SQL of the instant whose knowledge counts: later observations are left out. */
  readonly asOf: string;
  /** SQL of a setting of the rule, for the row's gateway. */
  readonly setting: (name: string, otherwise: number) => string;
  /**
   * SQL of the greatest value that it has for any gateway in the scope. Constant, so that the engine can
   * prune.
   */
  readonly greatestSetting: (name: string, otherwise: number) => string;
}

const NEVER = `toDateTime64(0, 6, 'UTC')`;

/**
 * What an order's items of a final state say together, from when such items came first and last (1970 for
 * never): the state that it has last, and since when, late repeats left out.
 */
export const LAST_STATE = `if(paid_last_at > failed_last_at, 'SUCCESS', 'FAILED')`;
export const LAST_STATE_AT = `if(state = 'SUCCESS', if(paid_first_at > failed_last_at, paid_first_at, paid_last_at), if(failed_first_at > paid_last_at, failed_first_at, failed_last_at))`;
/** From when on an item of the merchant callback (stage 6) shows that state. */
export const CONFIRMED_FROM = 'decided_at - INTERVAL 1 SECOND';
/** Was it paid after it had failed? From its first failed and its last paid item. */
export const isReversed = (failedFirst: string, paidLast: string): string =>
  `${failedFirst} > ${NEVER} AND ${paidLast} > ${failedFirst}`;

const KEY = `toString(gateway) AS gateway, toString(order_type) AS order_type, external_id`;
const sure = (condition: string): string => `ifNull(${condition}, 0)`;

/** One of several counts of the same source, chosen by a condition on the query's parameters. */
export interface CountVariant {
  /** @default always */
  readonly when?: string;
  readonly count: OrderCount;
  /** The longest window of the rule. */
  readonly longestSeconds: number;
}

/**
 * SELECT of gateway, order_type, external_id, facts: an array of (label, seen_at, hit_at), with 1970 for
 * never. One row per order. Variants must have one source.
 */
export function orderFacts(variants: readonly [CountVariant, ...CountVariant[]], scope: Scope): string {
  const { from } = variants[0].count;
  const where = chosenWhere(variants);
  const longest = Math.max(...variants.map(({ longestSeconds }) => longestSeconds));
  const reached = (secondsBefore: number): string =>
    `${scope.reach('event_time', longest, secondsBefore)} AND observed_at <= ${scope.asOf}`;
  switch (from.kind) {
    case 'items':
      return `SELECT ${KEY}, ${aggregated(variants, 'event_time')} AS facts
    FROM ${ITEMS}
    WHERE ${known(scope)}${where}
    GROUP BY gateway, order_type, external_id`;
    case 'polls':
      return `SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, ${aggregated(variants, 'started_at')} AS facts
    FROM ${POLLS}
    WHERE ${scope.within('started_at')}${where}
    GROUP BY gateway, order_type, external_id`;
    case 'asked':
      return overOrders(
        variants,
        'asked_at',
        `SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, max(started_at) AS asked_at, countIf(outcome = 'not_found') > 0 AND countIf(outcome = 'ok') = 0 AS not_found
      FROM ${POLLS}
      WHERE ${scope.reach('started_at', longest, 0)} AND cause != 'reread'
      GROUP BY gateway, order_type, external_id
      HAVING ${scope.within('asked_at')}`,
        where,
      );
    case 'callbacks':
      return `SELECT toString(gateway) AS gateway, assumeNotNull(toString(order_type)) AS order_type, assumeNotNull(external_id) AS external_id, ${aggregated(variants, 'received_at')} AS facts
    FROM ${ARRIVALS}
    WHERE external_id IS NOT NULL AND order_type IS NOT NULL AND ${scope.within('received_at')} AND received_at <= ${scope.asOf} AND (verdict = 'valid' OR ${isNew(scope)})${where}
    GROUP BY gateway, order_type, external_id`;
    case 'finished':
      return overOrders(
        variants,
        'decided_at',
        `SELECT ${KEY}, max(event_time) AS decided_at, argMax(tuple(h.state, h.reason_group, h.reason_code), ${TIME_ORDER}) AS deciding,
        deciding.1 AS state, deciding.2 AS reason_group, deciding.3 AS reason_code, ${outcome('deciding.1', 'deciding.2')} AS outcome
      FROM ${ITEMS} AS h
      WHERE h.${DECIDING} AND ${known(scope)}
      GROUP BY gateway, order_type, external_id`,
        where,
      );
    case 'reversed':
      return overOrders(
        variants,
        'greatest(paid_at, failed_last_at)',
        `SELECT ${KEY}, minIf(event_time, state = 'FAILED') AS failed_at, maxIf(event_time, state = 'FAILED') AS failed_last_at, maxIf(event_time, state = 'SUCCESS') AS paid_at, ${isReversed('failed_at', 'paid_at')} AS reversed
      FROM ${ITEMS}
      WHERE ${DECIDING} AND ${reached(from.lookbackSeconds)}
      GROUP BY gateway, order_type, external_id
      HAVING ${scope.within('greatest(paid_at, failed_last_at)')}`,
        where,
      );
    case 'processing':
      return overOrders(
        variants,
        `began_at + INTERVAL ${from.afterSeconds} SECOND`,
        `SELECT ${KEY}, minIf(event_time, ${sure(IN_PROCESSING)}) AS began_at, countIf(${sure(DECIDING)}) > 0 AS decided
      FROM ${ITEMS}
      WHERE ${reached(2 * from.afterSeconds)}
      GROUP BY gateway, order_type, external_id
      HAVING began_at > ${NEVER} AND ${scope.within(`began_at + INTERVAL ${from.afterSeconds} SECOND`)}`,
        where,
      );
    case 'confirmed':
      return overOrders(
        variants,
        `decided_at + INTERVAL ${from.afterSeconds} SECOND`,
        `SELECT ${KEY}, minIf(event_time, ${sure("h.state = 'SUCCESS'")}) AS paid_first_at, maxIf(event_time, ${sure("h.state = 'SUCCESS'")}) AS paid_last_at,
        minIf(event_time, ${sure("h.state = 'FAILED'")}) AS failed_first_at, maxIf(event_time, ${sure("h.state = 'FAILED'")}) AS failed_last_at, ${LAST_STATE} AS state,
        ${LAST_STATE_AT} AS decided_at,
        maxIf(event_time, ${sure(`stage = 'MERCHANT_CALLBACK'`)}) >= ${CONFIRMED_FROM} AS confirmed
      FROM ${ITEMS} AS h
      WHERE (h.${DECIDING} OR stage = 'MERCHANT_CALLBACK') AND ${reached(from.afterSeconds + LATE_REPEAT_SECONDS)}
      GROUP BY gateway, order_type, external_id
      HAVING decided_at > ${NEVER} AND ${scope.within(`decided_at + INTERVAL ${from.afterSeconds} SECOND`)}`,
        where,
      );
    case 'rereads': {
      const after = ['judgedAfterSeconds', from.judgedAfterSeconds] as const;
      const judgedAt = `known_at + toIntervalSecond(toUInt32(${scope.setting(...after)}))`;
      const lookback = `2 * ${scope.greatestSetting(...after)}`;
      return overOrders(
        variants,
        judgedAt,
        `SELECT gateway, order_type, external_id, min(first_at) AS known_at, max(last_read_at) > known_at + toIntervalSecond(toUInt32(${scope.setting('rereadFromSeconds', from.rereadFromSeconds)})) AS reread
      FROM
      (
        SELECT ${KEY}, min(observed_at) AS first_at, ${NEVER} AS last_read_at
        FROM ${ITEMS}
        WHERE ${DECIDING} AND ${known(scope, lookback)}
        GROUP BY gateway, order_type, external_id
        UNION ALL
        SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id, toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS first_at, max(started_at) AS last_read_at
        FROM ${POLLS}
        WHERE outcome = 'ok' AND ${scope.within('started_at', lookback)}
        GROUP BY gateway, order_type, external_id
      )
      GROUP BY gateway, order_type, external_id
      HAVING ${scope.within(judgedAt)}`,
        where,
      );
    }
  }
}

function chosenWhere(variants: readonly CountVariant[]): string {
  const parts = variants.map(({ when, count: { where } }) =>
    [...(when === undefined ? [] : [when]), ...(where === undefined ? [] : [`(${where})`])].join(' AND '),
  );
  if (parts.includes('')) return '';
  return ` AND ${parts.length === 1 ? parts[0] : `(${parts.map((part) => `(${part})`).join(' OR ')})`}`;
}

/** The array of facts: that of the variant whose condition holds. */
function chosenFacts(variants: readonly CountVariant[], fact: (label: LabelCount) => string): string {
  const facts = variants.map(({ when, count }) => ({ when, sql: `[${count.counts.map(fact).join(', ')}]` }));
  const [first] = facts;
  if (first !== undefined && first.when === undefined) return first.sql;
  const none = `CAST([], 'Array(Tuple(String, DateTime64(6, ''UTC''), DateTime64(6, ''UTC'')))')`;
  return `multiIf(${facts.map(({ when, sql }) => `${when}, ${sql}`).join(', ')}, ${none})`;
}

/**
 * Late items can repeat the state that an order had before (interface document, 2.4, rule 2: for about ten
 * minutes). They decide nothing, so items from before the window show whether an item in it is the first of
 * its state.
 */
export const LATE_REPEAT_SECONDS = 1_800;

const known = (scope: Scope, secondsBefore: Seconds = 0): string =>
  `${scope.within('event_time', secondsBefore)} AND observed_at <= ${scope.asOf}`;

/**
 * Arrivals are also there for what was read again after a restart, later than it came. For the many that
 * verify this changes next to nothing; the others count only if their content is new.
 */
const isNew = (scope: Scope): string =>
  `(gateway, content_hash) IN (SELECT gateway, content_hash FROM ${DELIVERIES} WHERE (gateway, content_hash) IN (SELECT gateway, content_hash FROM ${ARRIVALS} WHERE ${scope.within('received_at')} AND verdict != 'valid') GROUP BY gateway, content_hash HAVING ${scope.within('min(received_at)')})`;

/** Facts where an order has many rows: the latest that was seen, and the latest that was hit. */
const aggregated = (variants: readonly CountVariant[], time: string): string =>
  chosenFacts(variants, ({ label, seen, hit }) => {
    const isSeen = seen === undefined ? `max(${time})` : `maxIf(${time}, ${sure(seen)})`;
    const isHit = `maxIf(${time}, ${sure(seen === undefined ? hit : `(${seen}) AND (${hit})`)})`;
    return `(${sqlText(label)}, ${isSeen}, ${isHit})`;
  });

/** Facts where an order has one row. */
function overOrders(variants: readonly CountVariant[], time: string, rows: string, where: string): string {
  const facts = chosenFacts(variants, ({ label, seen, hit }) => {
    const isSeen = seen === undefined ? time : `if(${sure(seen)}, ${time}, ${NEVER})`;
    const isHit = `if(${sure(seen === undefined ? hit : `(${seen}) AND (${hit})`)}, ${time}, ${NEVER})`;
    return `(${sqlText(label)}, ${isSeen}, ${isHit})`;
  });
  return `SELECT gateway, order_type, external_id, ${facts} AS facts
    FROM
    (
      ${rows}
    )
    WHERE 1${where}`;
}

/** Labels of a count, in order. */
export const labelsOf = (count: OrderCount): string[] => count.counts.map(({ label }) => label);
/** Condition of a stage. */
export const atStage = (...stages: readonly string[]): string => `stage IN (${sqlList(stages)})`;
/** Condition of reasons. */
export const because = (...reasons: readonly number[]): string => `reason_code IN (${reasons.join(', ')})`;

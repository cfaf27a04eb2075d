import { DECIDING, groupOfReason, IN_PROCESSING, outcome, view } from '../../schemas/measures.ts';
import { atStage, type OrderSource } from './order-count.ts';
import { ARRIVALS, DELIVERIES, ITEMS, POLLS } from './tables.ts';

/** A number, or SQL of one. */
export type Seconds = number | string;

/** Where an order count looks. */
export interface Scope {
  /** Condition on a time column: within the scope, or up to `secondsBefore` before it. */
  readonly within: (time: string, secondsBefore?: Seconds) => string;
  /**
   * Condition on the time of status requests: as far back of the scope's end as an order is looked at, which
   * is the same for whatever window the scope is.
   */
  readonly reach: (time: string, longestSeconds: number) => string;
  /** Condition on rows of `orders`: can there be an item in the scope, or up to `secondsBefore` before? */
  readonly touched: (secondsBefore: number) => string;
  /** SQL of the scope's end. It may read `gateway`. */
  readonly end: string;
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

/** SQL of the latest instant at which an order met a condition of a source; 1970 for never. */
export type LatestOf = (from: OrderSource, condition: string) => string;

/** Sources with the same scan can be asked in one statement. */
export const scanOf = (from: OrderSource): string => (isOfOrders(from) ? 'orders' : JSON.stringify(from));

type OfOrders = Extract<
  OrderSource,
  { kind: 'items' | 'finished' | 'processing' | 'confirmed' | 'reversed' }
>;

/** Is the source answered by the rows of `orders`, with all items of an order in one row? */
export function isOfOrders(from: OrderSource): from is OfOrders {
  switch (from.kind) {
    case 'items':
    case 'finished':
    case 'processing':
    case 'confirmed':
    case 'reversed':
      return true;
    case 'polls':
    case 'asked':
    case 'callbacks':
    case 'rereads':
      return false;
  }
}

/**
 * SELECT of gateway, order_type, external_id and more columns, one row an order. What falls into a window
 * follows from the instants in the columns.
 *
 * @param sources of one scan, each once
 * @param longestSeconds the longest window that is counted in
 * @param columns SQL of the columns, made of instants
 */
export function orderFacts(
  sources: readonly [OrderSource, ...OrderSource[]],
  scope: Scope,
  longestSeconds: number,
  columns: (latest: LatestOf) => string,
): string {
  const [from] = sources;
  if (isOfOrders(from)) return ofOrders(sources.filter(isOfOrders), scope, columns);
  const once = (time: string): string =>
    columns((_, condition) => `if(${sure(condition)}, ${time}, ${NEVER})`);
  const latest = (time: string): string =>
    columns((_, condition) => (condition === '1' ? `max(${time})` : `maxIf(${time}, ${sure(condition)})`));
  switch (from.kind) {
    case 'polls':
      return `SELECT ${REQUESTED}, ${latest('started_at')}
    FROM ${POLLS}
    WHERE ${scope.within('started_at')}
    GROUP BY gateway, order_type, external_id`;
    case 'asked':
      return `SELECT gateway, order_type, external_id, ${once('asked_at')}
    FROM
    (
      SELECT ${REQUESTED}, max(started_at) AS asked_at, countIf(outcome = 'not_found') > 0 AND countIf(outcome = 'ok') = 0 AS not_found
      FROM ${POLLS}
      WHERE ${scope.reach('started_at', longestSeconds)} AND cause != 'reread'
      GROUP BY gateway, order_type, external_id
      HAVING ${scope.within('asked_at')}
    )`;
    case 'callbacks':
      return `SELECT toString(gateway) AS gateway, assumeNotNull(toString(order_type)) AS order_type, assumeNotNull(external_id) AS external_id, ${latest('received_at')}
    FROM ${ARRIVALS}
    WHERE external_id IS NOT NULL AND order_type IS NOT NULL AND ${scope.within('received_at')} AND received_at <= ${scope.asOf} AND (verdict = 'valid' OR ${isNew(scope)})
    GROUP BY gateway, order_type, external_id`;
    case 'rereads': {
      const after = ['judgedAfterSeconds', from.judgedAfterSeconds] as const;
      const judgedAt = `known_at + toIntervalSecond(toUInt32(${scope.setting(...after)}))`;
      const lookback = `2 * ${scope.greatestSetting(...after)}`;
      return `SELECT gateway, order_type, external_id, ${once(judgedAt)}
    FROM
    (
      SELECT gateway, order_type, external_id, min(first_at) AS known_at, max(last_read_at) > known_at + toIntervalSecond(toUInt32(${scope.setting('rereadFromSeconds', from.rereadFromSeconds)})) AS reread
      FROM
      (
        SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, min(observed_at) AS first_at, ${NEVER} AS last_read_at
        FROM ${ITEMS}
        WHERE ${DECIDING} AND ${scope.within('event_time', lookback)} AND observed_at <= ${scope.asOf}
        GROUP BY gateway, order_type, external_id
        UNION ALL
        SELECT ${REQUESTED}, toDateTime64('2299-12-31 00:00:00', 6, 'UTC') AS first_at, max(started_at) AS last_read_at
        FROM ${POLLS}
        WHERE outcome = 'ok' AND ${scope.within('started_at', lookback)}
        GROUP BY gateway, order_type, external_id
      )
      GROUP BY gateway, order_type, external_id
      HAVING ${scope.within(judgedAt)}
    )`;
    }
  }
}

const NEVER = `toDateTime64(0, 6, 'UTC')`;
const REQUESTED = `toString(gateway) AS gateway, toString(order_type) AS order_type, order_id AS external_id`;
const sure = (condition: string): string => `ifNull(${condition}, 0)`;

/**
 * Arrivals are also there for what was read again after a restart, later than it came. For the many that
 * verify this changes next to nothing; the others count only if their content is new.
 */
const isNew = (scope: Scope): string =>
  `(gateway, content_hash) IN (SELECT gateway, content_hash FROM ${DELIVERIES} WHERE (gateway, content_hash) IN (SELECT gateway, content_hash FROM ${ARRIVALS} WHERE ${scope.within('received_at')} AND verdict != 'valid') GROUP BY gateway, content_hash HAVING ${scope.within('min(received_at)')})`;

/**
 * Since when an order has its last state, late repeats left out: from that state, and from when items of
 * either final state came first and last (1970 for never).
 */
export const LAST_STATE_AT = `if(state = 'SUCCESS', if(paid_first_at > failed_last_at, paid_first_at, paid_last_at), if(failed_first_at > paid_last_at, failed_first_at, failed_last_at))`;
/** From when on an item of the merchant callback (stage 6) shows that state. */
export const CONFIRMED_FROM = 'decided_at - INTERVAL 1 SECOND';
/** Was it paid after it had failed? From its first failed and its last paid item. */
export const isReversed = (failedFirst: string, paidLast: string): string =>
  `${failedFirst} > ${NEVER} AND ${paidLast} > ${failedFirst}`;

/** The payer submitted the form. */
const SUBMITTED = 'reason_code = 55';

/** Stages whose operation is repeated when it fails. */
const REPEATED_STAGES = ['GATEWAY_CREATE', 'CHECK', 'GATEWAY_CALLBACK'] as const;

/**
 * What conditions on history items read, as arrays over the items of an order. `is_last`: nothing of its
 * stage came after it, so that what failed there has not been repeated.
 */
const ITEM_ARRAYS = {
  action: 'history.action',
  stage: 'history.stage',
  result: 'history.result',
  state: 'history.state',
  reason_code: 'history.reason_code',
  list_position: 'history.list_position',
  is_last: `arrayMap(place -> has(last_places, place), arrayEnumerate(times))`,
  code_format: `arrayMap(stage -> if(stage IS NULL, 'unrecognized', 'v2'), history.stage)`,
} as const;

/** SQL of the place of an item that is known and meets a condition; 0 where none does. */
function placeOf(name: 'arrayFirstIndex' | 'arrayLastIndex', condition: string): string {
  const read = Object.entries(ITEM_ARRAYS).filter(([column]) =>
    new RegExp(`\\b${column}\\b`).test(condition),
  );
  const names = ['is_known', ...read.map(([column]) => column)].join(', ');
  const arrays = ['known', ...read.map(([, array]) => array)].join(', ');
  return `${name}((${names}) -> is_known AND ${sure(condition)}, ${arrays})`;
}

/** The last time of an item that meets a condition; items stand in the order of their times. */
const lastTime = (condition: string): string => `times[${placeOf('arrayLastIndex', condition)}]`;
/** The first. */
const firstTime = (condition: string): string => `times[${placeOf('arrayFirstIndex', condition)}]`;

/**
 * Orders as they were known at the scope's instant, from the items of their rows: those that were not known
 * yet, or happened after the scope's end, are passed over. Columns that nothing reads cost nothing.
 */
function ofOrders(sources: readonly OfOrders[], scope: Scope, columns: (latest: LatestOf) => string): string {
  const judgedAfter = Math.max(0, ...sources.map((from) => ('afterSeconds' in from ? from.afterSeconds : 0)));
  return `SELECT toString(gateway) AS gateway, toString(order_type) AS order_type, external_id, ${columns(latestOfOrders)}
    FROM
    (
      SELECT *, times[deciding] AS final_at, history.state[deciding] AS state, history.reason_code[deciding] AS reason_code, ${groupOfReason('reason_code')} AS reason_group,
        ${outcome('state', 'reason_group')} AS outcome, deciding > 0 AS decided,
        ${firstTime("state = 'SUCCESS'")} AS paid_first_at, ${lastTime("state = 'SUCCESS'")} AS paid_last_at,
        ${firstTime("state = 'FAILED'")} AS failed_first_at, ${lastTime("state = 'FAILED'")} AS failed_last_at,
        ${LAST_STATE_AT} AS decided_at, ${lastTime("stage = 'MERCHANT_CALLBACK'")} >= ${CONFIRMED_FROM} AS confirmed,
        ${isReversed('failed_first_at', 'paid_last_at')} AS reversed, ${firstTime(IN_PROCESSING)} AS began_at,
        ${firstTime(SUBMITTED)} AS submitted_at, submitted_at > ${NEVER} AS was_submitted, ${placeOf('arrayFirstIndex', atStage('PAYFORM'))} > 0 AS has_form,
        if(has_form AND NOT was_submitted, NULL, dateDiff('millisecond', if(was_submitted, submitted_at, ${firstTime('1')}), final_at) / 1000) AS took_seconds
      FROM
      (
        SELECT *, ${placeOf('arrayLastIndex', DECIDING)} AS deciding, [${REPEATED_STAGES.map((stage) => placeOf('arrayLastIndex', `stage = '${stage}'`)).join(', ')}] AS last_places
        FROM
        (
          SELECT gateway, order_type, external_id, ${scope.end} AS ends_at, history.time AS times, arrayMap((time, seen) -> seen <= ${scope.asOf} AND time < ends_at, times, history.observed_at) AS known,
            channel, currency, history.action, history.stage, history.result, history.state, history.reason_code, history.list_position
          FROM ${view('orders')}
          WHERE ${scope.touched(judgedAfter)}
        )
      )
    )`;
}

const latestOfOrders: LatestOf = (from, condition) => {
  if (from.kind === 'items') return lastTime(condition);
  const time = timeOf(from as OfOrders);
  return `if(${time} < ends_at AND ${sure(condition)}, ${time}, ${NEVER})`;
};

/** SQL of the instant at which an order counts. */
function timeOf(from: OfOrders): string {
  switch (from.kind) {
    case 'processing':
      return later('began_at', from.afterSeconds);
    case 'confirmed':
      return later('decided_at', from.afterSeconds);
    default:
      return 'final_at';
  }
}

const later = (time: string, seconds: number): string =>
  `if(${time} > ${NEVER}, ${time} + INTERVAL ${seconds} SECOND, ${NEVER})`;

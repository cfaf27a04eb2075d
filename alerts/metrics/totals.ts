import {
  BUCKETS,
  PAYMENT_KINDS,
  type PaymentKind,
  type PaymentTotal,
  type PaymentTotals,
} from '../../schemas/payment-metrics.ts';
import { sqlList } from '../../schemas/measures.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { JOBS } from '../../schemas/names.ts';
import { doneByTime } from '../../store/job-progress.ts';
import { COUNTS, TOTALS } from '../count/tables.ts';
import { instant } from './count-scope.ts';

/**
 * Sums are made this often, and up to this long ago: what two collectors counted at the same time stands
 * twice in what is newer, and is distinguished there. A statement that counts is over by then.
 */
const SUMMED_EVERY: EpochMicros = 60e6;
const SUMMED_AFTER: EpochMicros = 180e6;
/** After a rest or on the way through much, so many sums are made one after the other. */
const MOST_SUMS = 10;

const LABELS = 'about, kind, gateway, order_type, first_label, second_label';

const { none, zero, least, most, perDoubling } = BUCKETS;
const BUCKET = `toInt16(multiIf(micros IS NULL, ${none}, micros <= 0, ${zero}, greatest(${least}, least(${most}, ceil(log2(greatest(assumeNotNull(micros), 1) / 1000000) * ${perDoubling}) - 1))))`;

/**
 * SELECT of the sums of what was counted after \`from\` and up to \`to\`, each thing once: also where two
 * collectors counted it, one before and one after.
 */
const countedBetween = (from: EpochMicros, to: EpochMicros | null): string =>
  `SELECT ${LABELS}, ${BUCKET} AS bucket, count() AS n, sum(ifNull(greatest(micros, 0), 0)) AS us, sum(ifNull(amount, toDecimal128(0, 9))) AS money, min(at) AS began,
      argMax((lower(hex(id)), micros, at), at) AS example, toUInt8(0) AS is_sum
    FROM
    (
      SELECT about, id, kind, subject, any(gateway) AS gateway, any(order_type) AS order_type, argMin(c.first_label, c.counted_at) AS first_label,
        argMin(c.second_label, c.counted_at) AS second_label, argMin(tuple(c.micros), c.counted_at).1 AS micros, argMin(tuple(c.amount), c.counted_at).1 AS amount, min(c.counted_at) AS at
      FROM ${COUNTS} AS c
      WHERE counted_at > ${instant(from - SUMMED_AFTER)}${to === null ? '' : ` AND counted_at <= ${instant(to)}`}
      GROUP BY about, id, kind, subject
      HAVING at > ${instant(from)}
    )
    GROUP BY ${LABELS}, bucket`;

const sumsOf = (summedTo: EpochMicros): string =>
  `SELECT ${LABELS}, bucket, counted AS n, micros AS us, amount AS money, first_at AS began,
      ('', CAST(NULL, 'Nullable(Int64)'), toDateTime64(0, 6, 'UTC')) AS example, toUInt8(1) AS is_sum
    FROM ${TOTALS} WHERE summed_to = ${instant(summedTo)} LIMIT 1 BY ${LABELS}, bucket`;

/**
 * SELECT of all that was counted up to \`to\`, by labels and bucket. Newer sums replace the older ones: where
 * those are gone that it begins with, it fails, and does not say less than before.
 */
const all = (summedTo: EpochMicros, to: EpochMicros | null): string =>
  `SELECT ${LABELS}, bucket, n_all, us_all, money_all, began_all, newest
FROM
(
  SELECT ${LABELS}, bucket, sum(n) AS n_all, sum(us) AS us_all, sum(money) AS money_all, min(began) AS began_all, argMax(example, example.3) AS newest, sum(max(is_sum)) OVER () AS sums
  FROM
  (
    ${sumsOf(summedTo)}
    UNION ALL
    ${countedBetween(summedTo, to)}
  )
  GROUP BY ${LABELS}, bucket
)
WHERE throwIf(sums = 0 AND ${summedTo === 0 ? 0 : 1}, 'the sums were replaced meanwhile') = 0`;

/** The statement that makes the sums anew. */
const makeSums = (summedTo: EpochMicros, to: EpochMicros): string =>
  `INSERT INTO ${TOTALS} (summed_to, ${LABELS}, bucket, counted, micros, amount, first_at)
SELECT ${instant(to)}, ${LABELS}, bucket, n_all, us_all, money_all, began_all FROM (${all(summedTo, to)})`;

/**
 * Up to when the next sums go at an instant, from what was counted first after the last ones; null: none are
 * due.
 */
export function sumsDue(now: EpochMicros, nextCounted: EpochMicros): EpochMicros | null {
  if (nextCounted === 0) return null;
  const to = Math.ceil(nextCounted / SUMMED_EVERY) * SUMMED_EVERY;
  return to <= now - SUMMED_AFTER ? to : null;
}

const SUMMED_TO = `SELECT toUnixTimestamp64Micro(max(summed_to)) AS at FROM ${TOTALS}`;
const NEXT = `WITH (SELECT max(summed_to) FROM ${TOTALS}) AS made_to
SELECT toUnixTimestamp64Micro(made_to) AS summed_to, toUnixTimestamp64Micro(min(counted_at)) AS next FROM ${COUNTS} WHERE counted_at > made_to`;

async function summedToNow(query: Tools['query']): Promise<EpochMicros> {
  const [row] = await query<{ at: number }>(SUMMED_TO);
  return row?.at ?? 0;
}

export interface Tools {
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly command: (sql: string) => Promise<void>;
}

/** Makes the sums that are due, a minute of counting at a time: what was counted in it is held in memory. */
export async function makeSumsDue(now: EpochMicros, { query, command }: Tools): Promise<void> {
  for (let made = 0; made < MOST_SUMS; made += 1) {
    const [row] = await query<{ summed_to: number; next: number }>(NEXT);
    const to = sumsDue(now, row?.next ?? 0);
    if (to === null) return;
    await command(makeSums(row?.summed_to ?? 0, to));
  }
}

interface TotalRow {
  readonly kind: PaymentKind;
  readonly gateway: string;
  readonly order_type: string;
  readonly first_label: string;
  readonly second_label: string;
  readonly bucket: number;
  readonly counted: number;
  readonly seconds: number;
  readonly sum: number;
  readonly first_at: number;
  readonly trace: string;
  readonly took: number | null;
  readonly counted_at: number;
}

/** Amounts are exact up to here; a float has 15 digits of them. */
const read = (summedTo: EpochMicros): string =>
  `SELECT toString(kind) AS kind, gateway, order_type, first_label, second_label, bucket, n_all AS counted, us_all / 1000000 AS seconds,
  toFloat64(money_all) AS sum, toFloat64(began_all) AS first_at, newest.1 AS trace, newest.2 / 1000000 AS took, toFloat64(newest.3) AS counted_at
FROM (${all(summedTo, null)})
WHERE kind IN (${sqlList(PAYMENT_KINDS)})
ORDER BY ${LABELS}, bucket`;

/**
 * Reads all that was counted so far; the last answer again when nobody has counted since.
 *
 * @throws StoreError
 */
export function createTotalsReader(query: Tools['query']): () => Promise<PaymentTotals> {
  let last: PaymentTotals = { countedTo: null, totals: [] };
  return async () => {
    const countedTo = ((await doneByTime(query, JOBS.payments)).get('') ?? 0) / 1e6;
    if (countedTo === (last.countedTo ?? 0)) return last;
    const rows = await query<TotalRow>(read(await summedToNow(query)));
    last = { countedTo, totals: rows.map(totalOf) };
    return last;
  };
}

const totalOf = (row: TotalRow): PaymentTotal => ({
  kind: row.kind,
  gateway: row.gateway,
  orderType: row.order_type,
  labels: [row.first_label, row.second_label],
  bucket: row.bucket,
  counted: row.counted,
  seconds: row.seconds,
  amount: row.sum,
  firstAt: row.first_at,
  example: row.trace === '' ? null : { traceId: row.trace, seconds: row.took, countedAt: row.counted_at },
});

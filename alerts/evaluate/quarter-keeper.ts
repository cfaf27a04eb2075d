import {
  frontierSql,
  itemsBetween,
  type KeptQuarters,
  keepFrontier,
  keepQuarters,
  QUARTER_SECONDS,
  storedBetween,
} from '../../schemas/order-quarters.ts';
import { ITEMS } from '../count/tables.ts';

export interface QuarterKeeperOptions {
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly command: (sql: string) => Promise<void>;
  /** What is stored can be read within that time. @default 60 */
  readonly visibleAfterSeconds?: number;
}

/** Keeps what each order did within each quarter of an hour, so that dashboards need not read all its items. */
export interface QuarterKeeper {
  /**
   * Keeps the quarters that are over by an instant, what came late for those that are kept, and a stretch of
   * the past. Whoever comes next goes on where this ended; what is kept twice counts once.
   */
  readonly keep: (asOfMs: number) => Promise<void>;
}

/** A quarter is kept this long after its end: most of its items are there by then, and few rows are added. */
const AFTER_SECONDS = 300;
/** Items of one statement: what is more waits for the next minute. */
const MOST_ITEMS = 2_000_000;

export function createQuarterKeeper({
  query,
  command,
  visibleAfterSeconds = 60,
}: QuarterKeeperOptions): QuarterKeeper {
  let isMoreLate = false;

  async function number(sql: string): Promise<number | null> {
    const [row] = await query<{ value: number }>(sql);
    return row === undefined ? null : Number(row.value);
  }

  /** The quarter of the item that is `MOST_ITEMS` from an end of the time; null: there are not so many. */
  async function farthest(from: number, to: number, order: 'ASC' | 'DESC'): Promise<number | null> {
    const at = await number(
      `SELECT toUnixTimestamp(toDateTime(event_time)) AS value FROM ${ITEMS} WHERE ${itemsBetween(from, to)} ORDER BY event_time ${order} LIMIT 1 OFFSET ${MOST_ITEMS}`,
    );
    return at === null ? null : quarterOf(at);
  }

  async function advance(before: KeptQuarters, next: Partial<KeptQuarters>): Promise<KeptQuarters> {
    const after = { ...before, ...next };
    await command(keepFrontier(after));
    return after;
  }

  async function keepLate(before: KeptQuarters, storedBy: number): Promise<KeptQuarters> {
    const { from, to, knownTo } = before;
    if (from === to) return { ...before, knownTo: storedBy };
    const late = await query<{ second: number; items: number }>(
      `SELECT toUnixTimestamp(stored_at) AS second, count() AS items FROM ${ITEMS} WHERE ${itemsBetween(from, to)} AND ${storedBetween(knownTo, storedBy)} GROUP BY second ORDER BY second`,
    );
    let items = 0;
    const fits = late.filter((one) => (items += Number(one.items)) <= MOST_ITEMS || one === late[0]);
    isMoreLate = fits.length < late.length;
    const until = isMoreLate ? Number(fits.at(-1)?.second) : storedBy;
    if (late.length > 0)
      await command(keepQuarters(`${itemsBetween(from, to)} AND ${storedBetween(knownTo, until)}`, false));
    return advance(before, { knownTo: until });
  }

  async function keepNew(before: KeptQuarters, over: number): Promise<KeptQuarters> {
    const reach = await farthest(before.to, over, 'ASC');
    const to = reach === null ? over : Math.max(reach, before.to + QUARTER_SECONDS);
    await command(keepQuarters(itemsBetween(before.to, to), true));
    return advance(before, { to });
  }

  async function keepPast(before: KeptQuarters): Promise<KeptQuarters> {
    const reach = await farthest(0, before.from, 'DESC');
    const from = reach === null ? 0 : Math.min(reach + QUARTER_SECONDS, before.from - QUARTER_SECONDS);
    await command(keepQuarters(itemsBetween(from, before.from), true));
    return advance(before, { from });
  }

  return {
    async keep(asOfMs) {
      const over = quarterOf(asOfMs / 1000 - AFTER_SECONDS);
      const storedBy = await number(`SELECT toUnixTimestamp(now()) - ${visibleAfterSeconds} AS value`);
      if (storedBy === null) return;
      // Asked each time: meanwhile another collector may have kept some.
      const [known] = await query<KeptQuarters>(frontierSql);
      let kept = known ?? { from: over, to: over, knownTo: storedBy };
      if (over > kept.to || isMoreLate) kept = await keepLate(kept, Math.max(storedBy, kept.knownTo));
      if (over > kept.to) kept = await keepNew(kept, over);
      if (kept.from > 0) kept = await keepPast(kept);
    },
  };
}

const quarterOf = (seconds: number): number => Math.floor(seconds / QUARTER_SECONDS) * QUARTER_SECONDS;

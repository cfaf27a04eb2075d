import {
  frontierSql,
  type KeptQuarters,
  keepFrontier,
  QUARTER_SECONDS,
  type QuarterKind,
  rowsBetween,
  storedBetween,
} from '../../schemas/kept-quarters.ts';

export interface QuarterKeeperOptions {
  readonly kind: QuarterKind;
  /** Runs one SELECT; whole numbers up to 2 ** 53 come exact. */
  readonly query: <T>(sql: string) => Promise<T[]>;
  readonly command: (sql: string) => Promise<void>;
  /** What is stored can be read within that time. @default 60 */
  readonly visibleAfterSeconds?: number;
}

/** Keeps what happened within each quarter of an hour, so that dashboards need not read all of it. */
export interface QuarterKeeper {
  /**
   * Keeps the quarters that are over by an instant, what came late for those that are kept, and a stretch of
   * the past. Whoever comes next goes on where this ended; what is kept twice counts once.
   */
  readonly keep: (asOfMs: number) => Promise<void>;
}

/** A quarter is kept this long after its end: most of its rows are there by then, and few come late. */
const AFTER_SECONDS = 300;
/** Rows that one statement reads: what is more waits for the next minute. */
const MOST_ROWS = 2_000_000;

export function createQuarterKeeper({
  kind,
  query,
  command,
  visibleAfterSeconds = 60,
}: QuarterKeeperOptions): QuarterKeeper {
  const { definition, time, keepNew: newRows, keepLate: lateRows, mostLateQuarters } = kind;
  const rows = asking(query, kind);
  const between = (from: number, to: number): string => rowsBetween(time, from, to);
  let isMoreLate = false;

  async function advance(before: KeptQuarters, next: Partial<KeptQuarters>): Promise<KeptQuarters> {
    const after = { ...before, ...next };
    await command(keepFrontier(definition, after));
    return after;
  }

  async function keepLate(before: KeptQuarters, storedBy: number): Promise<KeptQuarters> {
    const { from, to, knownTo } = before;
    if (from === to) return { ...before, knownTo: storedBy };
    const late = `${between(from, to)} AND ${storedBetween(knownTo, storedBy)}`;
    if (mostLateQuarters !== undefined && (await rows.quarters(late)) > mostLateQuarters)
      return advance(before, { from: to, knownTo: storedBy });
    const { any, last } = await rows.fitting(late);
    const until = last ?? storedBy;
    isMoreLate = last !== null;
    if (any) await command(lateRows(between(from, to), storedBetween(knownTo, until)));
    return advance(before, { knownTo: until });
  }

  async function keepNew(before: KeptQuarters, over: number): Promise<KeptQuarters> {
    const reach = await rows.farthest(before.to, over, 'ASC');
    const to = reach === null ? over : Math.max(reach, before.to + QUARTER_SECONDS);
    await command(newRows(between(before.to, to)));
    return advance(before, { to });
  }

  async function keepPast(before: KeptQuarters): Promise<KeptQuarters> {
    const reach = await rows.farthest(0, before.from, 'DESC');
    const from = reach === null ? 0 : Math.min(reach + QUARTER_SECONDS, before.from - QUARTER_SECONDS);
    await command(newRows(between(from, before.from)));
    return advance(before, { from });
  }

  return {
    async keep(asOfMs) {
      const over = quarterOf(asOfMs / 1000 - AFTER_SECONDS);
      const storedBy = await rows.storedBy(visibleAfterSeconds);
      // Asked each time: meanwhile another collector may have kept some.
      const [known] = await query<KeptQuarters>(frontierSql(definition));
      let kept = known ?? { from: over, to: over, knownTo: storedBy };
      if (over > kept.to || isMoreLate) kept = await keepLate(kept, Math.max(storedBy, kept.knownTo));
      if (over > kept.to) kept = await keepNew(kept, over);
      if (kept.from > 0) kept = await keepPast(kept);
    },
  };
}

/** What the keeper asks about the rows. */
function asking(query: QuarterKeeperOptions['query'], { source, time }: QuarterKind) {
  return {
    /** The store's clock, so many seconds ago: in seconds since 1970. */
    async storedBy(secondsAgo: number): Promise<number> {
      const [row] = await query<{ at: number }>(`SELECT toUnixTimestamp(now()) - ${secondsAgo} AS at`);
      return Number(row?.at ?? 0);
    },
    /** The quarter of the row that is `MOST_ROWS` from an end of the time; null: there are not so many. */
    async farthest(from: number, to: number, order: 'ASC' | 'DESC'): Promise<number | null> {
      const [row] = await query<{ at: number }>(
        `SELECT toUnixTimestamp(toDateTime(${time})) AS at FROM ${source} WHERE ${rowsBetween(time, from, to)} ORDER BY ${time} ${order} LIMIT 1 OFFSET ${MOST_ROWS}`,
      );
      return row === undefined ? null : quarterOf(Number(row.at));
    },
    /** Into how many quarters such rows fall. */
    async quarters(where: string): Promise<number> {
      const [row] = await query<{ quarters: number }>(
        `SELECT uniqExact(toStartOfFifteenMinutes(${time})) AS quarters FROM ${source} WHERE ${where}`,
      );
      return Number(row?.quarters);
    },
    /** Are there any such rows, and the last second of those that fit one statement; null: all do. */
    async fitting(where: string): Promise<{ any: boolean; last: number | null }> {
      const seconds = await query<{ second: number; found: number }>(
        `SELECT toUnixTimestamp(stored_at) AS second, count() AS found FROM ${source} WHERE ${where} GROUP BY second ORDER BY second`,
      );
      let sum = 0;
      const fit = seconds.filter((one, index) => (sum += Number(one.found)) <= MOST_ROWS || index === 0);
      const isAll = fit.length === seconds.length;
      return { any: seconds.length > 0, last: isAll ? null : Number(fit.at(-1)?.second) };
    },
  };
}

const quarterOf = (seconds: number): number => Math.floor(seconds / QUARTER_SECONDS) * QUARTER_SECONDS;

import { sqlText } from './measures.ts';
import { DATABASE, QUARTER_TABLES } from './names.ts';

/**
 * What is kept by quarter of an hour so that dashboards need not read all rows, each kind with its own text
 * and all with the same books: from when to when, and which rows were there by then. The view of a kind reads
 * what is kept and makes the rest of the rows, so its numbers are the same whatever is kept.
 */

/** Seconds of a quarter. */
export const QUARTER_SECONDS = 900;

/** Rows of which quarters are kept: from `from` to `to`, whole quarters in seconds since 1970. */
export interface KeptQuarters {
  readonly from: number;
  readonly to: number;
  /** All of them that were stored by then, in seconds since 1970 by the store's clock. */
  readonly knownTo: number;
}

/** One kind of quarters. */
export interface QuarterKind {
  /** What quarters are of, for people. */
  readonly what: string;
  /** Names the text they are made by: what another text has made is not read. */
  readonly definition: string;
  /** The table of the rows, which tells in `stored_at` when the store took each in. */
  readonly source: string;
  /** The column with the time of a row. */
  readonly time: string;
  /** The statement that keeps quarters. @param where conditions on rows: a time of whole quarters */
  readonly keepNew: (where: string) => string;
  /** The statement that keeps what came late. @param within the kept time @param late when it was stored */
  readonly keepLate: (within: string, late: string) => string;
  /**
   * Into how many quarters something may come late at once where that statement reads the whole of them. With
   * more, as when another store's rows are copied, all that is over is kept again, a stretch at a time.
   *
   * @default any
   */
  readonly mostLateQuarters?: number;
}

/** Checksum of a text (FNV-1a), for definitions. */
export const textSum = (text: string): string =>
  Array.from(text)
    .reduce(
      (sum, character) => Math.imul(sum ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0,
      2_166_136_261,
    )
    .toString(16);

/** A statement may keep years of a quiet store, each week of which is a partition. */
export const ANY_WEEKS = 'max_partitions_per_insert_block = 0';

const time = (seconds: number): string => `toDateTime64(${seconds}, 6, 'UTC')`;
/** SQL: rows from one instant to another, in seconds since 1970. */
export const rowsBetween = (column: string, from: number, to: number): string =>
  `${column} >= ${time(from)} AND ${column} < ${time(to)}`;
/** SQL: rows stored after one second, up to another. */
export const storedBetween = (after: number, to: number): string =>
  `stored_at > toDateTime(${after}, 'UTC') AND stored_at <= toDateTime(${to}, 'UTC')`;

/** The statement that says how far a kind is kept. What is kept twice counts once: this comes last. */
export const keepFrontier = (definition: string, { from, to, knownTo }: KeptQuarters): string =>
  `INSERT INTO ${DATABASE}.${QUARTER_TABLES.frontier} (definition, kept_from, kept_to, known_to)
  VALUES (${sqlText(definition)}, ${from}, ${to}, ${knownTo})`;

/** How far a kind is kept, as of the last time: no row where nothing is. */
export const frontierSql = (definition: string): string =>
  `SELECT toUnixTimestamp(kept_from) AS from, toUnixTimestamp(kept_to) AS to, toUnixTimestamp(known_to) AS knownTo
  FROM ${DATABASE}.${QUARTER_TABLES.frontier} WHERE definition = ${sqlText(definition)} ORDER BY written_at DESC LIMIT 1`;

/** The same within a view: from, to and known_to, all 1970 where nothing is kept. */
export const frontierOfView = (definition: string): string =>
  `(SELECT argMax((kept_from, kept_to, known_to), written_at) FROM ${QUARTER_TABLES.frontier} WHERE definition = ${sqlText(definition)})`;

/** SQL of the first whole quarter from an instant on. @param instant a DateTime64(6) */
export const firstWholeQuarter = (instant: string): string =>
  `toDateTime(intDiv(toUnixTimestamp64Micro(${instant}) + ${QUARTER_SECONDS * 1e6 - 1}, ${QUARTER_SECONDS * 1e6}) * ${QUARTER_SECONDS}, 'UTC')`;

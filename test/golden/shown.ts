import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * How answers are written down: few rows that a person can read, and a hash of all of them. To see what
 * differs, set GATEWATCH_GOLDEN_FULL to a folder: all rows go there, before and after a change.
 */

const SHOWN_ROWS = 4;
const FULL = process.env['GATEWATCH_GOLDEN_FULL'];

/** One answer: what was asked, how many rows there are, their hash, and some of them. */
export function shown(asked: string, rows: readonly unknown[]): string {
  // Answers are compared as sets: what a panel sorts by can be equal in many rows.
  const lines = rows.map((row) => JSON.stringify(stable(row))).toSorted();
  const hash = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  if (FULL !== undefined) keepAll(FULL, asked, lines);
  return [`${asked}: ${lines.length} rows, ${hash}`, ...spread(lines).map((line) => `  ${line}`)].join('\n');
}

/** Rows from all over the answer: the first ones alone often say nothing. */
function spread(lines: readonly string[]): string[] {
  const step = Math.max(1, Math.floor(lines.length / SHOWN_ROWS));
  return lines.filter((_, index) => index % step === 0).slice(0, SHOWN_ROWS);
}

/** Sums of fractions depend on the order in which threads add them: so many digits do not. */
function stable(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map(stable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, stable(one)]));
}

function keepAll(folder: string, asked: string, lines: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  const name = asked.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 150);
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
}

import { DATABASE, type JobName, TABLES } from '../schemas/names.ts';
import { sqlText } from '../schemas/measures.ts';
import type { EpochMicros } from '../schemas/rows.ts';

const PROGRESS = `${DATABASE}.${TABLES.jobs}`;

type Query = <T>(sql: string) => Promise<T[]>;

/** How far a job has come, in microseconds since 1970, by part of its work. */
export async function doneByTime(query: Query, job: JobName): Promise<Map<string, EpochMicros>> {
  const rows = await query<{ part: string; done: EpochMicros }>(
    `SELECT part, toUnixTimestamp64Micro(max(done_to)) AS done FROM ${PROGRESS} WHERE job = '${job}' GROUP BY part`,
  );
  return new Map(rows.map(({ part, done }) => [part, Number(done)]));
}

/** The statement that notes it. */
export const noteDoneByTime = (job: JobName, part: string, doneTo: EpochMicros): string =>
  `INSERT INTO ${PROGRESS} (job, part, done_to) SELECT '${job}', ${sqlText(part)}, fromUnixTimestamp64Micro(${Math.round(doneTo)}, 'UTC')`;

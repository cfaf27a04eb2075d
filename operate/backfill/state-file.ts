import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';

/** How far a file has been handed over, kept beside it. */
export interface BackfillState {
  /** Number of the last line that is done. */
  readonly line: number;
  /** Of what was read up to there: a file that was changed before that line starts over. */
  readonly hash: string;
  readonly taken: number;
  readonly refused: number;
  /** The file was read to its end. */
  readonly done: boolean;
}

const stateSchema = z.object({
  line: z.int().min(0),
  hash: z.string(),
  taken: z.int().min(0),
  refused: z.int().min(0),
  done: z.boolean(),
});

export function stateFileOf(file: string): string {
  return `${file}.backfill.json`;
}

/** The state that an earlier run left; null when there is none that can be read. */
export async function readState(path: string): Promise<BackfillState | null> {
  try {
    return stateSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Replaces the file as a whole, so that a kill leaves the old state or the new one. */
export async function writeState(path: string, state: BackfillState): Promise<void> {
  await writeFile(`${path}.tmp`, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

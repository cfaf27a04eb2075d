import { createHash } from 'node:crypto';
import type { Problem } from '../../schemas/problem.ts';
import type { WatchMessage } from '../../schemas/watch.ts';
import type { Line } from './read-lines.ts';
import type { BackfillState } from './state-file.ts';

/** How far one reading of the file has got. Plain data, changed by the functions below. */
export interface Progress {
  /** What an earlier run has done and this one has still to pass; null: all that comes is new. */
  skipTo: BackfillState | null;
  /** Number of the last line that was read. */
  lastLine: number;
  /** Over all lines read so far. */
  readonly hash: ReturnType<typeof createHash>;
  /** Accepted lines that are not sent yet. */
  pending: { readonly line: number; readonly message: WatchMessage }[];
  /** Lines with an order or a problem, those of earlier runs included. */
  lines: number;
  taken: number;
  refused: number;
  /** Lines that an earlier run had done. */
  skipped: number;
}

/** What a line was found to be. */
export type LineOutcome = 'skipped' | 'pending' | 'another_file' | Problem;

export function startProgress(resume: BackfillState | null): Progress {
  return {
    skipTo: resume,
    lastLine: 0,
    hash: createHash('sha256'),
    pending: [],
    lines: 0,
    taken: resume?.taken ?? 0,
    refused: resume?.refused ?? 0,
    skipped: 0,
  };
}

/** Takes one line in. `another_file`: what the earlier run has read is not what lies here now. */
export function readLine(
  progress: Progress,
  { line, message, problem }: Line,
  judge: (message: WatchMessage) => Problem | null,
): LineOutcome {
  if (progress.skipTo !== null && line > progress.skipTo.line) {
    if (!isWhatWasRead(progress)) return 'another_file';
    progress.skipTo = null;
  }
  progress.lines += 1;
  progress.lastLine = line;
  progress.hash.update(`${JSON.stringify([line, message, problem])}\n`);
  if (progress.skipTo !== null) {
    progress.skipped += 1;
    return 'skipped';
  }
  const wrong = message === null ? problem : judge(message);
  if (wrong !== null) {
    progress.refused += 1;
    return wrong;
  }
  if (message !== null) progress.pending.push({ line, message });
  return 'pending';
}

/** Is what was read so far the same as what the earlier run had read? */
export function isWhatWasRead(progress: Progress): boolean {
  return progress.skipTo === null || progress.hash.copy().digest('hex') === progress.skipTo.hash;
}

/** The pending lines were sent, and these of them, by their place, refused. */
export function markSent(progress: Progress, refused: number): void {
  progress.taken += progress.pending.length - refused;
  progress.refused += refused;
  progress.pending = [];
}

/** What the next run needs to go on here. */
export function stateOf({ lastLine, hash, taken, refused }: Progress, done: boolean): BackfillState {
  return { line: lastLine, hash: hash.copy().digest('hex'), taken, refused, done };
}

import { createHash } from 'node:crypto';
import type { WatchMessage } from '../../schemas/watch.ts';
import type { Problem } from '../../schemas/problem.ts';
import type { Defaults } from './columns.ts';
import { createLineReader, type Line } from './read-lines.ts';
import type { BackfillState } from './state-file.ts';
import { CHUNK, type Taker } from './taker.ts';

export interface BackfillOptions {
  /** Opens the data from its beginning; called again when it turns out to have changed since the last run. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly defaults: Defaults;
  /** Names that an order's gateway may have; null: not known here, the taker judges. */
  readonly gateways: readonly string[] | null;
  /** null: only validate. */
  readonly taker: Taker | null;
  /** Where an earlier run got to. @default null: begin at the beginning */
  readonly resume?: BackfillState | null;
  /** Keeps the state after each chunk. */
  readonly keep?: (state: BackfillState) => Promise<void>;
  readonly onRefused: (line: number, problem: Problem) => void;
  readonly onProgress?: (bytes: number, lines: number) => void;
  /** The taker has no room for more yet, since so many orders are due. */
  readonly onWaiting: (due: number) => void;
  /** Ends it after the chunk under way. */
  readonly signal: AbortSignal;
}

export interface BackfillResult {
  /** Lines with an order or a problem, those of earlier runs included. */
  readonly lines: number;
  readonly taken: number;
  readonly refused: number;
  /** Lines that an earlier run had done. */
  readonly skipped: number;
  /** False: interrupted. */
  readonly complete: boolean;
  /** The file was changed before the line that an earlier run had reached: it was begun anew. */
  readonly changed: boolean;
}

/**
 * Hands the orders of a file over in chunks, at the taker's pace. Bad lines are told and counted, and stop
 * nothing.
 */
export async function backfill(options: BackfillOptions): Promise<BackfillResult> {
  const { resume = null } = options;
  if (resume === null) return { ...(await pass(options, null)), changed: false };
  const resumed = await pass(options, resume);
  if (resumed !== null) return { ...resumed, changed: false };
  return { ...(await pass(options, null)), changed: true };
}

type Pass = Omit<BackfillResult, 'changed'>;

async function pass(options: BackfillOptions, resume: null): Promise<Pass>;
async function pass(options: BackfillOptions, resume: BackfillState | null): Promise<Pass | null>;
async function pass(options: BackfillOptions, resume: BackfillState | null): Promise<Pass | null> {
  const { taker, signal } = options;
  const reader = createLineReader(options.defaults);
  const decoder = new TextDecoder();
  const hash = createHash('sha256');
  let skipping = resume !== null;
  let pending: { line: number; message: WatchMessage }[] = [];
  let lastLine = 0;
  let bytes = 0;
  const count = { lines: 0, taken: resume?.taken ?? 0, refused: resume?.refused ?? 0, skipped: 0 };

  /** True when the earlier run's part is behind us and was the same as now. */
  const isSame = () => hash.copy().digest('hex') === resume?.hash;

  function refuse(line: number, problem: Problem): void {
    count.refused += 1;
    options.onRefused(line, problem);
  }

  async function handOver(): Promise<void> {
    if (pending.length > 0 && taker !== null) {
      await taker.ready(signal, options.onWaiting);
      if (signal.aborted) return;
      const messages = pending.map(({ message }) => message);
      const refused = await taker.take(messages, signal).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (refused === null) return;
      for (const [index, problem] of refused) refuse(pending[index]?.line ?? 0, problem);
      count.taken += pending.length - refused.size;
    } else {
      count.taken += pending.length;
    }
    pending = [];
    await keep(false);
  }

  async function keep(done: boolean): Promise<void> {
    await options.keep?.({
      line: lastLine,
      hash: hash.copy().digest('hex'),
      taken: count.taken,
      refused: count.refused,
      done,
    });
  }

  /** False: the file is not the one that was begun. */
  async function take(lines: readonly Line[]): Promise<boolean> {
    for (const line of lines) {
      if (skipping && line.line > (resume?.line ?? 0)) {
        if (!isSame()) return false;
        skipping = false;
      }
      count.lines += 1;
      lastLine = line.line;
      hash.update(`${JSON.stringify([line.line, line.message, line.problem])}\n`);
      if (skipping) {
        count.skipped += 1;
        continue;
      }
      const { message } = line;
      const problem = message === null ? line.problem : gatewayProblem(message, options.gateways);
      if (problem !== null) refuse(line.line, problem);
      else if (message !== null) pending.push({ line: line.line, message });
      if (pending.length >= CHUNK) await handOver();
      if (signal.aborted) return true;
    }
    return true;
  }

  for await (const chunk of options.open()) {
    bytes += chunk.byteLength;
    if (!(await take(reader.push(decoder.decode(chunk, { stream: true }))))) return null;
    options.onProgress?.(bytes, count.lines);
    if (signal.aborted) break;
  }
  if (!signal.aborted && !(await take([...reader.push(decoder.decode()), ...reader.end()]))) return null;
  if (skipping && !isSame()) return null;
  if (!signal.aborted) await handOver();
  const complete = !signal.aborted;
  if (complete) await keep(true);
  return { ...count, complete };
}

/** The same judgement as the collector's, where its gateways are known. */
function gatewayProblem({ gateway }: WatchMessage, gateways: readonly string[] | null): Problem | null {
  if (gateways === null) return null;
  if (gateway === undefined ? gateways.length === 1 : gateways.includes(gateway)) return null;
  // A name that no gateway has may be anything, a card number in the wrong column included.
  const received = gateway === undefined ? 'nothing' : 'another name';
  return { field: 'gateway', received, expected: `one of ${gateways.join(', ')}` };
}

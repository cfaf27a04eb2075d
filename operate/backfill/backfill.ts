import type { WatchMessage } from '../../schemas/watch.ts';
import type { Problem } from '../../schemas/problem.ts';
import type { Defaults } from './columns.ts';
import { createLineReader, type Line } from './read-lines.ts';
import { CHUNK, type Destination } from './destination.ts';
import { isWhatWasRead, markSent, readLine, startProgress, stateOf, type Progress } from './progress.ts';
import type { BackfillState } from './state-file.ts';

export interface BackfillOptions {
  /** Opens the data from its beginning; called again when it turns out to have changed since the last run. */
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly defaults: Defaults;
  /** Names that an order's gateway may have; null: not known here, the destination judges. */
  readonly gateways: readonly string[] | null;
  /** null: only validate. */
  readonly destination: Destination | null;
  /** Where an earlier run got to. @default null: begin at the beginning */
  readonly resume?: BackfillState | null;
  /** Keeps the state after each chunk. */
  readonly keep?: (state: BackfillState) => Promise<void>;
  readonly onRefused: (line: number, problem: Problem) => void;
  readonly onProgress?: (bytes: number, lines: number) => void;
  /** The destination has no room for more yet: this many orders are due. */
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
  /** The file was changed before the line that an earlier run had reached: all of it was read again. */
  readonly changed: boolean;
}

/**
 * Sends the orders of a file in chunks, at the destination's pace. Bad lines are reported and counted, and
 * stop nothing.
 */
export async function backfill(options: BackfillOptions): Promise<BackfillResult> {
  const { resume = null } = options;
  if (resume === null) return { ...(await pass(options, null)), changed: false };
  const resumed = await pass(options, resume);
  if (resumed !== null) return { ...resumed, changed: false };
  return { ...(await pass(options, null)), changed: true };
}

type Pass = Omit<BackfillResult, 'changed'>;

/** Reads the file once. null: the file is not the one that the earlier run has read. */
async function pass(options: BackfillOptions, resume: null): Promise<Pass>;
async function pass(options: BackfillOptions, resume: BackfillState | null): Promise<Pass | null>;
async function pass(options: BackfillOptions, resume: BackfillState | null): Promise<Pass | null> {
  const { signal, onProgress } = options;
  const progress = startProgress(resume);
  for await (const { lines, bytes } of readPieces(options)) {
    if (!(await takeLines(progress, lines, options))) return null;
    onProgress?.(bytes, progress.lines);
    if (signal.aborted) break;
  }
  if (!signal.aborted && !isWhatWasRead(progress)) return null;
  if (!signal.aborted) await sendPending(progress, options);
  const complete = !signal.aborted;
  if (complete) await options.keep?.(stateOf(progress, true));
  const { lines, taken, refused, skipped } = progress;
  return { lines, taken, refused, skipped, complete };
}

/** The lines that end in each piece of the file, with the bytes read so far. */
async function* readPieces(
  options: BackfillOptions,
): AsyncIterable<{ readonly lines: readonly Line[]; readonly bytes: number }> {
  const reader = createLineReader(options.defaults);
  let decode: ((piece?: Uint8Array) => string) | null = null;
  let head = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of options.open()) {
    bytes += chunk.byteLength;
    if (decode === null) head = Buffer.concat([head, chunk]);
    if (head.byteLength < 2) continue;
    const piece = decode === null ? head : chunk;
    decode ??= decoderOf(head);
    yield { lines: reader.push(decode(piece)), bytes };
  }
  const rest = decode === null ? head.toString('utf8') : decode();
  yield { lines: [...reader.push(rest), ...reader.end()], bytes };
}

/** Of UTF-8, unless the file begins with a byte order mark of UTF-16, as what spreadsheets export may. */
function decoderOf([first, second]: Uint8Array): (piece?: Uint8Array) => string {
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  const decoder = new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8');
  return (piece) => decoder.decode(piece, { stream: piece !== undefined });
}

/** False: the file is not the one that the earlier run has read. */
async function takeLines(
  progress: Progress,
  lines: readonly Line[],
  options: BackfillOptions,
): Promise<boolean> {
  for (const line of lines) {
    const outcome = readLine(progress, line, (message) => gatewayProblem(message, options.gateways));
    if (outcome === 'another_file') return false;
    if (typeof outcome !== 'string') options.onRefused(line.line, outcome);
    if (progress.pending.length >= CHUNK) await sendPending(progress, options);
    if (options.signal.aborted) return true;
  }
  return true;
}

async function sendPending(progress: Progress, options: BackfillOptions): Promise<void> {
  const { destination, signal } = options;
  const { pending } = progress;
  let refused: ReadonlyMap<number, Problem> = new Map();
  if (pending.length > 0 && destination !== null) {
    await destination.ready(signal, options.onWaiting);
    if (signal.aborted) return;
    try {
      const messages = pending.map(({ message }) => message);
      refused = await destination.send(messages, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
  }
  for (const [index, problem] of refused) options.onRefused(pending[index]?.line ?? 0, problem);
  markSent(progress, refused.size);
  await options.keep?.(stateOf(progress, false));
}

/** The same judgement as the collector's, where its gateways are known. */
function gatewayProblem({ gateway }: WatchMessage, gateways: readonly string[] | null): Problem | null {
  if (gateways === null) return null;
  if (gateway === undefined ? gateways.length === 1 : gateways.includes(gateway)) return null;
  // A name that no gateway has may be anything, a card number in the wrong column included.
  const received = gateway === undefined ? 'nothing' : 'another name';
  return { field: 'gateway', received, expected: `one of ${gateways.join(', ')}` };
}

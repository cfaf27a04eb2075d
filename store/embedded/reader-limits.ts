import { availableParallelism, totalmem } from 'node:os';

/** What one statement of the reader may use. Requests may lower these, never raise them. */
export interface ReaderLimits {
  /** Seconds of wall time for one statement. @default 30 */
  readonly maxExecutionSeconds: number;
  /**
   * Seconds after which a statement that does not end, although it was to, has the engine's process replaced:
   * beyond its time limit, and half of it after its client left. @default 10
   */
  readonly stuckAfterSeconds: number;
  /** Memory for one statement. @default an eighth of the machine's, at most 1 GiB */
  readonly maxMemoryBytes: number;
  /** Size of one uncompressed result, as the engine counts it, and as a file of text. @default 512 MiB */
  readonly maxResultBytes: number;
  /** Rows in one result. @default 10,000,000 */
  readonly maxResultRows: number;
  /**
   * Statements running at once; more wait their turn. @default one for each core, at least 2 and at most 8
   */
  readonly maxConcurrent: number;
  /** Threads of one statement: the others are for what writes. @default half of the cores */
  readonly maxThreads: number;
}

const GIB = 1024 ** 3;

export function defaultReaderLimits(): ReaderLimits {
  const cores = availableParallelism();
  return {
    maxExecutionSeconds: 30,
    stuckAfterSeconds: 10,
    maxMemoryBytes: Math.min(GIB, Math.floor(totalmem() / 8)),
    maxResultBytes: GIB / 2,
    maxResultRows: 10_000_000,
    maxConcurrent: Math.min(8, Math.max(2, cores)),
    maxThreads: Math.max(1, Math.ceil(cores / 2)),
  };
}

/** What one statement of the reader may use. Requests may lower these, never raise them. */
export interface ReaderLimits {
  /** Seconds of wall time for one statement. @default 30 */
  readonly maxExecutionSeconds: number;
  /** Memory for one statement. @default 1 GiB */
  readonly maxMemoryBytes: number;
  /** Size of one uncompressed result, as the engine counts it. @default 512 MiB */
  readonly maxResultBytes: number;
  /** Rows in one result. @default 10,000,000 */
  readonly maxResultRows: number;
  /** Statements running at once; more wait their turn. @default 6 */
  readonly maxConcurrent: number;
}

export const defaultReaderLimits: ReaderLimits = {
  maxExecutionSeconds: 30,
  maxMemoryBytes: 1024 ** 3,
  maxResultBytes: 512 * 1024 ** 2,
  maxResultRows: 10_000_000,
  maxConcurrent: 6,
};

import type { Digests } from './access.ts';
import type { ReaderLimits } from './reader-limits.ts';
import type { RefusedStatements } from './stuck-statements.ts';

/** The parent's first message to the child. It holds no secret: digests show who knows one. */
export interface ChildConfig {
  readonly dataDir: string;
  /** Port on 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly fsync: boolean;
  readonly digests: Digests;
  /** How long to wait for another process to give up the folder. */
  readonly startTimeoutMs: number;
  /** How long running requests may take to finish once a stop is asked for. */
  readonly stopTimeoutMs: number;
  readonly readerLimits: ReaderLimits;
  /** What readers may read, each as `database.name`. */
  readonly readerViews: readonly string[];
  readonly readersWithoutSandbox: ReadersWithoutSandbox;
  readonly withoutWalls: readonly Wall[];
  readonly refusedStatements: RefusedStatements;
}

/** Whether readers are served where the system puts no sandbox around the engine's process. */
export type ReadersWithoutSandbox = 'refused' | 'trusted_with_all_files';

/**
 * A wall between readers and the machine that an attack of the project's own takes away, to try the others.
 */
export type Wall = 'gate' | 'sandbox';

/** Why a child gave up before it was ready. */
export const childFailures = ['CHDB_MISSING', 'PORT_IN_USE', 'DATA_DIR_LOCKED', 'START_FAILED'] as const;
export type ChildFailure = (typeof childFailures)[number];

/** What the child sends to its parent. */
export type ChildEvent =
  | {
      readonly event: 'ready';
      readonly port: number;
      readonly version: string;
      readonly sandboxState: SandboxState;
    }
  | { readonly event: 'failed'; readonly code: ChildFailure; readonly message: string }
  /** A reader asks something: the process that judges it is wanted. */
  | { readonly event: 'policy-wanted' }
  /** A reader's statement goes on although it was to end: this process has to be replaced. */
  | { readonly event: 'stuck'; readonly statement: string }
  | {
      readonly event: 'log';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly msg: string;
      readonly fields?: Readonly<Record<string, unknown>>;
    };

/** Whether the engine's process is in a Landlock sandbox, or why it is not. */
export type SandboxState =
  { readonly active: true; readonly abi: number } | { readonly active: false; readonly reason: string };

/**
 * What the parent sends to the child. `stop` asks it to drain and end; a closed channel makes it end at once.
 */
export type ParentMessage =
  | { readonly message: 'start'; readonly config: ChildConfig }
  | { readonly message: 'stop' }
  /** Comes with the socket of the policy's process, or with the reason why there is none. */
  | { readonly message: 'policy'; readonly failure: string | null };

import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { DATABASE, PAGE_VIEWS, VIEWS } from '../../schemas/names.ts';
import { users } from './access.ts';
import type { ChildConfig, ReadersWithoutSandbox, SandboxState, Wall } from './child-protocol.ts';
import { startChild, type Child } from './child-process.ts';
import { removeConnectionFile, writeConnectionFile } from './connection-file.ts';
import { storePaths, type StorePaths } from './engine-config.ts';
import { EmbeddedStoreError } from './errors.ts';
import type { EmbeddedStoreEvent } from './events.ts';
import { defaultReaderLimits, type ReaderLimits } from './reader-limits.ts';
import { setAside } from './set-aside.ts';
import { supervise } from './supervisor.ts';
import { digestOf, readOrCreateSecret } from './secrets.ts';
import { afterStuck, NOTHING_REFUSED } from './stuck-statements.ts';

export interface EmbeddedStoreOptions {
  /** Folder of the store; made when it is not there. One store at a time holds it. */
  readonly dataDir: string;
  /** Port on 127.0.0.1; 0 takes a free one. @default 8123 */
  readonly port?: number;
  /**
   * Force rows to the disk before an insert is acknowledged: survives power loss, not only a kill. @default
   * true
   */
  readonly fsync?: boolean;
  /** How long to wait for the engine, and for another process to give up the folder. @default 30,000 */
  readonly startTimeoutMs?: number;
  /** How long running requests may take to finish at a stop. @default 10,000 */
  readonly stopTimeoutMs?: number;
  /**
   * Restarts in a row, without a minute of health between them, after which the store gives up. @default 10
   */
  readonly maxRestarts?: number;
  readonly readerLimits?: Partial<ReaderLimits>;
  /** `none`: whoever can connect to loopback on this machine may read. @default 'required' */
  readonly readerPassword?: 'required' | 'none';
  /**
   * `trusted_with_all_files`: readers are served where the system puts no sandbox around the engine's
   * process. Who gets past the check of their statements then reads what this account can read.
   * @default 'refused'
   */
  readonly readersWithoutSandbox?: ReadersWithoutSandbox;
  /** What readers may read, each as `database.name`. @default the public views */
  readonly readerViews?: readonly string[];
  /** Walls that an attack takes away, to try the others. No configuration sets it. @default none */
  readonly withoutWalls?: readonly Wall[];
  readonly log?: (event: EmbeddedStoreEvent) => void;
  /** Called after each restart, when the store answers again. */
  readonly onRestart?: (restarts: number) => void;
}

export interface EmbeddedStore {
  /** `http://127.0.0.1:<port>`: the address does not change over restarts. */
  readonly url: string;
  readonly port: number;
  /** Process id of the engine's process; changes over restarts. */
  readonly pid: number;
  readonly writer: { readonly username: string; readonly password: string };
  /** Its password is empty when none is required. */
  readonly reader: { readonly username: string; readonly password: string };
  /** What the system itself refuses the engine's process, in words. */
  readonly sandbox: string;
  readonly dataDir: string;
  /** How often the engine's process was replaced. */
  readonly restarts: number;
  /** Statements for which it was, and until when readers are refused for them: epoch milliseconds, or 0. */
  readonly readers: () => { readonly stuckStatements: number; readonly refusedUntil: number };
  /**
   * Resolves with the reason when the store has given up restarting. Never rejects, and stays pending after a
   * stop.
   */
  readonly down: Promise<EmbeddedStoreError>;
  /** Drains running requests, closes the engine and ends its process. */
  stop(): Promise<void>;
}

/**
 * Starts ClickHouse in a child process and keeps it up (decision 2). A data folder that the engine cannot
 * read is set aside, and a new, empty store begins.
 *
 * @throws EmbeddedStoreError `CHDB_MISSING`, `PORT_IN_USE`, `DATA_DIR_LOCKED`, `DATA_DIR_UNUSABLE`,
 *   `START_TIMEOUT` or `START_FAILED`, each with what to do about it
 */
export async function startEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const dataDir = resolve(options.dataDir);
  const log = options.log ?? (() => undefined);
  const paths = storePaths(dataDir);
  const logins = prepareLogins(dataDir, paths, options.readerPassword === 'none');
  const config = childConfigOf(dataDir, logins, options);
  const first = await startOrSetAside(config, log);
  const { port } = first;
  const url = `http://127.0.0.1:${port}`;
  announce(first);
  const readers = createReaderRefusals(log);
  const supervisor = supervise(first, {
    // A replacement must come back under the address that everybody knows.
    start: (signal) => startChild({ ...config, port, refusedStatements: readers.refused() }, log, signal),
    onStuck: readers.onStuck,
    maxRestarts: options.maxRestarts ?? 10,
    log,
    onReplaced(child, restarts) {
      announce(child);
      options.onRestart?.(restarts);
    },
  });

  function announce(child: Child): void {
    const { pid, version } = child;
    const sandbox = sandboxText(child.sandboxState);
    writeConnectionFile(paths.connection, { url, pid, sandbox });
    log({ level: 'info', msg: 'embedded ClickHouse is ready', url, pid, version, wall: sandbox });
  }

  return {
    url,
    port,
    get pid() {
      return supervisor.child.pid;
    },
    ...logins,
    get sandbox() {
      return sandboxText(supervisor.child.sandboxState);
    },
    dataDir,
    get restarts() {
      return supervisor.restarts;
    },
    readers: readers.status,
    down: supervisor.down,
    async stop() {
      const child = await supervisor.release();
      removeConnectionFile(paths.connection);
      await child.stop(config.stopTimeoutMs);
    },
  };
}

/** What replacements of the engine's process have to know of statements that did not end. */
function createReaderRefusals(log: (event: EmbeddedStoreEvent) => void) {
  let refused = NOTHING_REFUSED;
  let stuckStatements = 0;
  return {
    refused: () => refused,
    status: () => ({ stuckStatements, refusedUntil: refused.readersUntil }),
    onStuck(statement: string): void {
      stuckStatements++;
      refused = afterStuck(refused, statement, Date.now());
      const areReadersRefused = refused.readersUntil > Date.now();
      const msg = "a reader's statement did not end; the embedded ClickHouse is restarted";
      log({ level: 'error', msg, statement: statement.slice(0, 16), areReadersRefused });
    },
  };
}

/** In words, for logs and the doctor. */
function sandboxText(state: SandboxState): string {
  return state.active ? `Landlock ${state.abi}` : `none: ${state.reason}`;
}

type Logins = Pick<EmbeddedStore, 'writer' | 'reader'>;

function prepareLogins(dataDir: string, paths: StorePaths, isOpen: boolean): Logins {
  const password = prepareFolder(dataDir, paths.secret);
  const readerPassword = isOpen ? '' : readOrCreateSecret(paths.readerSecret);
  return {
    writer: { username: users.writer, password },
    reader: { username: users.reader, password: readerPassword },
  };
}

function childConfigOf(
  dataDir: string,
  { writer, reader }: Logins,
  options: EmbeddedStoreOptions,
): ChildConfig {
  const isOpen = options.readerPassword === 'none';
  return {
    dataDir,
    port: options.port ?? 8123,
    fsync: options.fsync ?? true,
    startTimeoutMs: options.startTimeoutMs ?? 30_000,
    stopTimeoutMs: options.stopTimeoutMs ?? 10_000,
    digests: { writer: digestOf(writer.password), reader: isOpen ? null : digestOf(reader.password) },
    readerLimits: { ...defaultReaderLimits(), ...options.readerLimits },
    readerViews: options.readerViews ?? PUBLIC,
    readersWithoutSandbox: options.readersWithoutSandbox ?? 'refused',
    withoutWalls: options.withoutWalls ?? [],
    refusedStatements: NOTHING_REFUSED,
  };
}

const PUBLIC = [...Object.values(VIEWS), ...PAGE_VIEWS].map((view) => `${DATABASE}.${view}`);

/** Starts the engine's process; on files that it cannot make sense of, once more on an empty store. */
async function startOrSetAside(
  config: ChildConfig,
  log: (event: EmbeddedStoreEvent) => void,
): Promise<Child> {
  try {
    return await startChild(config, log);
  } catch (error) {
    if (!(error instanceof EmbeddedStoreError) || error.code !== 'DATA_CORRUPT') throw error;
    const folder = setAside(config.dataDir, new Date());
    const hint = 'starting with an empty store; what Kafka still holds is read again';
    const msg = 'the store was damaged and is set aside';
    log({ level: 'error', msg, folder, reason: error.message, hint });
    return startChild(config, log);
  }
}

function prepareFolder(dataDir: string, secretFile: string): string {
  if (/[*?{}\\]/.test(dataDir)) {
    const reason = 'its path must not hold any of * ? { } \\, which the engine takes for a pattern';
    throw new EmbeddedStoreError(
      'DATA_DIR_UNUSABLE',
      `The data folder ${dataDir} cannot be used: ${reason}.`,
    );
  }
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return readOrCreateSecret(secretFile);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddedStoreError(
      'DATA_DIR_UNUSABLE',
      `The data folder ${dataDir} cannot be used: ${reason}`,
      {
        cause: error,
      },
    );
  }
}

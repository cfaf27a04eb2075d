import { MAX_WRITERS } from './engine-flags.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';
import { pinnedSettings, readerRole, type StorePaths } from './engine-config.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { quoteIdentifier, quoteString } from '../sql/quote.ts';

/** What the engine's library offers, as far as it is used here. */
export interface EngineResult {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedSeconds: number;
  text(): string;
}
export interface EngineChunk {
  readonly bytes: Uint8Array;
  readonly rows: number;
}
/** Whoever iterates it to the end, or leaves the loop, frees it. */
export type EngineStream = AsyncIterable<EngineChunk>;
/**
 * The engine's own parser: how many statements, and what kind (0 read only, 1 data, 2 global, 3 control, 4
 * unknown).
 */
export interface StatementAnalysis {
  readonly statementCount: number;
  readonly queryClass: number;
}
/** One connection: one statement at a time, settings of its own. */
export interface EngineSession {
  query(sql: string, format: string): Promise<EngineResult>;
  stream(sql: string, format: string): EngineStream;
  /** Runs nothing. */
  analyze(sql: string, database: string): Promise<StatementAnalysis>;
  /** Waits for what still runs on this connection. */
  close(): Promise<void>;
}
export interface EngineLibrary {
  openSession(path: string, connectionArgs: readonly string[]): EngineSession;
}

export type Role = 'writer' | 'reader';

/** State of one request's connection: nothing of it survives the request. */
export interface ConnectionSetup {
  readonly role: Role;
  readonly database: string | null;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A connection of one request. */
export interface Connection {
  /** Names the request in `system.processes`, in `log_comment`. */
  readonly tag: string;
  run(sql: string, format?: string): Promise<EngineResult>;
  stream(sql: string, format: string): EngineStream;
  /** Runs nothing. */
  analyze(sql: string): Promise<StatementAnalysis>;
  /** Ends the running statement at the next block. */
  kill(): Promise<void>;
}

export interface Engine {
  readonly version: string;
  readonly formats: ReadonlyMap<string, { readonly input: boolean; readonly output: boolean }>;
  readonly analyze: EngineSession['analyze'];
  /** Runs `work` on a fresh connection, waiting for a free place of its role first. */
  withConnection<T>(setup: ConnectionSetup, work: (connection: Connection) => Promise<T>): Promise<T>;
  /**
   * The same for work that leaves its connection as it was. Such connections are used again by work of an
   * equal setup: to open one and set it up takes longer than many a statement.
   */
  withUsedConnection<T>(setup: ConnectionSetup, work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly paths: StorePaths;
  readonly connectionArgs: readonly string[];
  readonly readerLimits: ReaderLimits;
}

/** Opens the engine on its folder. Throws when another process holds the folder. */
export async function openEngine(library: EngineLibrary, options: EngineOptions): Promise<Engine> {
  const { paths, connectionArgs, readerLimits } = options;
  const sessions = createSessions(() => library.openSession(paths.engine, connectionArgs));
  // Keep the engine up between requests, and serve KILL and the parser while all other connections are busy.
  const anchor = sessions.open();
  const parser = sessions.open();
  const [version = ''] = (await anchor.query('SELECT version()', 'TSVRaw')).text().split('\n');
  const formats = await readFormats(anchor);
  const semaphores: Record<Role, Semaphore> = {
    writer: createSemaphore({ running: MAX_WRITERS, waiting: 256 }),
    reader: createSemaphore({ running: readerLimits.maxConcurrent, waiting: 256 }),
  };
  const killer = createKiller(anchor);
  let lastTag = 0;
  /** Connections that wait to be used again. */
  let idle: readonly IdleConnection[] = [];

  async function opened(setup: ConnectionSetup): Promise<IdleConnection> {
    const tag = `gatewatch-request-${++lastTag}`;
    const session = sessions.open();
    try {
      await session.query(setupStatements(setup, tag), 'TSVRaw');
      return { setup: setupStatements(setup, ''), tag, session };
    } catch (error) {
      await sessions.close(session);
      throw error;
    }
  }

  return {
    version,
    formats,
    analyze: (sql, database) => parser.analyze(sql, database),
    withConnection: (setup, work) =>
      withPermit(semaphores[setup.role], async () => {
        const { session, tag } = await opened(setup);
        try {
          return await work(connectionOf(session, tag, killer, setup.database));
        } finally {
          await sessions.close(session);
        }
      }),
    withUsedConnection: (setup, work) =>
      withPermit(semaphores[setup.role], async () => {
        const { taken, excess, left } = takeIdle(idle, setupStatements(setup, ''), MAX_IDLE);
        idle = left;
        if (excess !== null) await sessions.close(excess.session);
        const used = taken ?? (await opened(setup));
        // What ends this statement too late would end the next one on this connection; and parameters hardly
        // come twice.
        let isUsable = setup.parameters.size === 0;
        const kill = (tag: string): Promise<void> => {
          isUsable = false;
          return killer.kill(tag);
        };
        let isDone = false;
        try {
          const result = await work(connectionOf(used.session, used.tag, { kill }, setup.database));
          isDone = true;
          return result;
        } finally {
          if (isDone && isUsable) idle = [...idle, used];
          else await sessions.close(used.session);
        }
      }),
    async close() {
      await killer.idle();
      await sessions.closeAll();
    },
  };
}

/** The engine's connections that are open. */
function createSessions(open: () => EngineSession) {
  const sessions = new Set<EngineSession>();
  return {
    open(): EngineSession {
      const session = open();
      sessions.add(session);
      return session;
    },
    async close(session: EngineSession): Promise<void> {
      sessions.delete(session);
      await session.close();
    },
    closeAll: () => Promise.all([...sessions].map((session) => session.close())),
  };
}

/** About one for each setup that statements come with again and again. */
const MAX_IDLE = 12;

export interface IdleConnection {
  /** The statements that set it up, but for its tag. */
  readonly setup: string;
  readonly tag: string;
  readonly session: EngineSession;
}

/**
 * Takes a connection of this setup out of those that wait. At the bound the one that has waited longest is to
 * be closed, and no longer among them.
 */
export function takeIdle<T extends Pick<IdleConnection, 'setup'>>(
  idle: readonly T[],
  setup: string,
  max: number,
): { readonly taken: T | null; readonly excess: T | null; readonly left: readonly T[] } {
  const taken = idle.find((one) => one.setup === setup) ?? null;
  const others = idle.filter((one) => one !== taken);
  const [oldest = null, ...younger] = others;
  return others.length >= max
    ? { taken, excess: oldest, left: younger }
    : { taken, excess: null, left: others };
}

/** Ends statements by their tag, one after the other. */
interface Killer {
  kill(tag: string): Promise<void>;
  /** Resolves when nothing is being ended any more. */
  idle(): Promise<unknown>;
}

function createKiller(session: EngineSession): Killer {
  let last: Promise<unknown> = Promise.resolve();
  return {
    kill(tag) {
      const statement = `KILL QUERY WHERE Settings['log_comment'] = ${quoteString(tag)} ASYNC FORMAT Null`;
      const killed = last.then(() => session.query(statement, 'TSVRaw')).then(noResult, noResult);
      last = killed;
      return killed;
    },
    idle: () => last,
  };
}

function connectionOf(
  session: EngineSession,
  tag: string,
  killer: Pick<Killer, 'kill'>,
  database: string | null,
): Connection {
  return {
    tag,
    run: (sql, format = 'TabSeparated') => session.query(sql, format),
    stream: (sql, format) => session.stream(sql, format),
    analyze: (sql) => session.analyze(sql, database ?? 'default'),
    kill: () => killer.kill(tag),
  };
}

async function withPermit<T>(semaphore: Semaphore, work: () => Promise<T>): Promise<T> {
  const release = await semaphore.acquire();
  try {
    return await work();
  } finally {
    release();
  }
}

// The role and readonly come last: what a reader may set was decided before, and nothing can be set after.
function setupStatements(setup: ConnectionSetup, tag: string): string {
  const settings = [...setup.settings].filter(([name]) => !pinnedSettings.has(name));
  const assignments = [...settings, ['log_comment', tag] as const, ...parameterSettings(setup.parameters)];
  const statements = [
    `SET ${assignments.map(([name, value]) => `${name} = ${quoteString(value)}`).join(', ')}`,
  ];
  if (setup.database !== null) statements.push(`USE ${quoteIdentifier(setup.database)}`);
  if (setup.role === 'reader') statements.push(`SET ROLE ${readerRole}`, 'SET readonly = 1');
  return statements.join('; ');
}

function parameterSettings(parameters: ReadonlyMap<string, string>): (readonly [string, string])[] {
  return [...parameters].map(([name, value]) => [`param_${name}`, value] as const);
}

async function readFormats(session: EngineSession): Promise<Engine['formats']> {
  const sql = 'SELECT lower(name), is_input, is_output FROM system.formats';
  const rows = (await session.query(sql, 'TSVRaw')).text().trim().split('\n');
  return new Map(
    rows.map((row) => {
      const [name = '', input, output] = row.split('\t');
      return [name, { input: input === '1', output: output === '1' }];
    }),
  );
}

function noResult(): void {}

/**
 * The process of the engine that holds the data (`reader/policy-process.ts` loads another one, without data).
 * It talks to its parent over Node's channel between processes and never outlives it: when the channel closes
 * it kills itself, whatever is running. The engine's storage is made to survive that.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { sleep, withDeadline } from '../../schemas/deadline.ts';
import { users } from './access.ts';
import { loadChdb } from './chdb-library.ts';
import type { ChildConfig, ChildEvent, ChildFailure, ParentMessage, SandboxState } from './child-protocol.ts';
import { clickhouseError } from './clickhouse-error.ts';
import { openEngine, type Engine } from './engine.ts';
import { storePaths, writeEngineConfig, type StorePaths } from './engine-config.ts';
import { createHttpServer, type Queries } from './http-server.ts';
import { createNoPolicy } from './reader/no-policy.ts';
import { createReaderPolicy } from './reader/policy-client.ts';
import { createReaderQueries } from './reader/reader-queries.ts';
import { openSpool } from './spool.ts';
import { ENGINE_READS, loadKoffi, enterSandbox, type Koffi } from './sandbox.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { createWatchdog, type Watchdog } from './stuck-statements.ts';
import { createWriterQueries } from './writer-queries.ts';

let stop: () => Promise<void> = async () => undefined;
let policyConnected: (channel: Duplex | Error) => void = () => undefined;
process.on('message', (message: ParentMessage, handle?: Socket) => {
  if (message.message === 'start') main(message.config).catch(giveUp);
  else if (message.message === 'stop') void stop().finally(() => process.exit(0));
  else policyConnected(handle ?? new Error(message.failure ?? 'the process did not start'));
});
process.on('disconnect', end);
// Ctrl-C reaches the whole process group: the parent decides what happens then.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

class StartFailure extends Error {
  readonly code: ChildFailure;

  constructor(code: ChildFailure, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = code;
  }
}

async function main(config: ChildConfig): Promise<void> {
  const paths = storePaths(config.dataDir);
  const started = Promise.withResolvers<Queries>();
  started.promise.catch(() => undefined);
  const log = (level: 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>>): void =>
    send({ event: 'log', level, msg, fields });
  const http = createHttpServer({ digests: config.digests, queries: started.promise, log });
  // The port first: that it is taken shows at once, while the folder's lock may be worth waiting for.
  const port = await listen(http.server, config.port);
  const connectionArgs = writeEngineConfig(paths, config);
  process.chdir(paths.work);
  const library = await loadChdb().catch((error: unknown) => {
    throw new StartFailure('CHDB_MISSING', error);
  });
  const sandboxState = config.withoutWalls.includes('sandbox')
    ? { active: false as const, reason: 'it is left away for an attack' }
    : sandboxChild(paths, await loadKoffi());
  const engine = await openUnlocked(config, () =>
    openEngine(library, { paths, connectionArgs, readerLimits: config.readerLimits }),
  );
  restoreDefaultFaultHandlers();
  const spool = openSpool(paths.spool);
  const policy = config.withoutWalls.includes('gate')
    ? createNoPolicy()
    : createReaderPolicy({ connect: connectPolicy, log });
  started.resolve({
    writer: createWriterQueries(engine, spool).handle,
    reader:
      readersRefusal(sandboxState, config) ??
      createReaderQueries({
        engine,
        spool,
        policy,
        limits: config.readerLimits,
        refusedStatements: config.refusedStatements,
        watchdog: watchdogOf(config.readerLimits),
      }).handle,
  });
  stop = async () => {
    await http.drain(config.stopTimeoutMs);
    policy.close();
    // A statement that still runs keeps the engine open, and a regular exit would wait for it.
    if (
      !(await withDeadline(
        engine.close().then(() => true),
        1_000,
        () => false,
      ))
    )
      end();
  };
  send({ event: 'ready', port, version: engine.version, sandboxState });
}

/** Half the time after the client has left: nobody waits for the result, and others do for its place. */
function watchdogOf({ maxExecutionSeconds, stuckAfterSeconds }: ReaderLimits): Watchdog {
  return createWatchdog({
    deadlineMs: (maxExecutionSeconds + stuckAfterSeconds) * 1000,
    goneMs: stuckAfterSeconds * 500,
    onStuck: (statement) => send({ event: 'stuck', statement }),
  });
}

/**
 * Nothing else stands between a hole in the gate and the files of this account: the engine's own rights end
 * at its tables, and its functions open any path. @returns what answers readers in their place, or null
 */
function readersRefusal(
  sandboxState: SandboxState,
  { readersWithoutSandbox }: ChildConfig,
): Queries['reader'] | null {
  if (sandboxState.active || readersWithoutSandbox === 'trusted_with_all_files') return null;
  const text =
    `${users.reader}: readers are refused, because the system puts no sandbox around this store (${sandboxState.reason}): ` +
    'whoever got past the check of statements would read every file of this account. To serve them all the same, ' +
    'set embedded.readersWithoutSandbox to trusted_with_all_files.';
  return () => Promise.reject(clickhouseError(497, text));
}

/**
 * Called once the library is loaded and before anything uses the thread pool: threads that run already would
 * stay outside the sandbox. From here on this process needs nothing but its own folders.
 */
function sandboxChild(paths: StorePaths, koffi: Koffi | null): SandboxState {
  const rules = {
    writable: [paths.engine, paths.work],
    readable: [...ENGINE_READS, paths.config, paths.users],
    forbidden: paths.secret,
  };
  try {
    return enterSandbox(rules, koffi);
  } catch (error) {
    return { active: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Asks the parent to start the process that judges readers' statements: the sandbox forbids starting one.
 */
function connectPolicy(): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    policyConnected = (channel) => (channel instanceof Error ? reject(channel) : resolve(channel));
    send({ event: 'policy-wanted' });
  });
}

/**
 * Replaces the engine's handlers of fatal signals by the system's defaults: with the engine's, a crashed
 * process hangs for minutes while it writes a report, answers nothing and outlives its parent. Adding and
 * removing a listener makes Node restore the default.
 */
function restoreDefaultFaultHandlers(): void {
  const nothing = (): void => undefined;
  for (const signal of ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'] as const)
    process.on(signal, nothing).off(signal, nothing);
}

function listen(server: ReturnType<typeof createHttpServer>['server'], port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new StartFailure(error.code === 'EADDRINUSE' ? 'PORT_IN_USE' : 'START_FAILED', error));
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Opens the engine, waiting for another process to give up the folder. */
async function openUnlocked(config: ChildConfig, open: () => Promise<Engine>): Promise<Engine> {
  const deadline = performance.now() + config.startTimeoutMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      const holder = holderOf(config.dataDir);
      if (holder === null) throw error;
      if (performance.now() > deadline) {
        throw new StartFailure('DATA_DIR_LOCKED', new Error(`process ${holder}`, { cause: error }));
      }
      if (attempt === 0)
        send({
          event: 'log',
          level: 'warn',
          msg: `waiting for process ${holder} to release the data folder`,
        });
      await sleep(200);
    }
  }
}

/** The library does not say why it failed, but the process that holds the folder has left its id there. */
function holderOf(dataDir: string): number | null {
  let pid = Number.NaN;
  try {
    pid = Number(/^PID: (\d+)/.exec(readFileSync(join(storePaths(dataDir).engine, 'status'), 'utf8'))?.[1]);
    return pid !== process.pid && process.kill(pid, 0) ? pid : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : null;
  }
}

function send(event: ChildEvent): void {
  if (process.connected) process.send?.(event);
}

/** The parent ends this process once it has read the reason: an exit from here could overtake the message. */
function giveUp(error: unknown): void {
  const code = error instanceof StartFailure ? error.code : 'START_FAILED';
  send({ event: 'failed', code, message: error instanceof Error ? error.message : String(error) });
  setTimeout(() => process.exit(1), 5_000);
}

/**
 * The process that holds the engine, and the only one that loads it. It talks to its parent over Node's
 * channel between processes and never outlives it: when the channel closes it kills itself, whatever is
 * running, which the engine's storage survives by design.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { sleep, withDeadline } from '../../schemas/deadline.ts';
import { loadChdb } from './chdb-library.ts';
import type { ChildConfig, ChildEvent, ChildFailure, ParentMessage, WallState } from './child-protocol.ts';
import { openEngine, type Engine } from './engine.ts';
import { storePaths, writeEngineConfig, type StorePaths } from './engine-config.ts';
import { createHttpServer, type Queries } from './http-server.ts';
import { createReaderPolicy } from './reader/policy-client.ts';
import { createReaderQueries } from './reader/reader-queries.ts';
import { openSpool } from './spool.ts';
import { ENGINE_READS, loadKoffi, raiseWall, type Koffi } from './wall.ts';
import { createWriterQueries } from './writer-queries.ts';

let stop: () => Promise<void> = async () => undefined;
let policyArrived: (way: Duplex | Error) => void = () => undefined;
process.on('message', (message: ParentMessage, handle?: Socket) => {
  if (message.message === 'start') main(message.config).catch(giveUp);
  else if (message.message === 'stop') void stop().finally(() => process.exit(0));
  else policyArrived(handle ?? new Error(message.failure ?? 'the process did not start'));
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
  const connectionArgs = writeEngineConfig(paths, { fsync: config.fsync });
  process.chdir(paths.work);
  const library = await loadChdb().catch((error: unknown) => {
    throw new StartFailure('CHDB_MISSING', error);
  });
  const wall = standBehindWall(paths, await loadKoffi());
  const engine = await openUnlocked(config, () =>
    openEngine(library, { paths, connectionArgs, readerLimits: config.readerLimits }),
  );
  dieOfFaults();
  const spool = openSpool(paths.spool);
  const policy = createReaderPolicy({ connect: connectPolicy, log });
  started.resolve({
    writer: createWriterQueries(engine, spool).handle,
    reader: createReaderQueries({ engine, spool, policy, limits: config.readerLimits }).handle,
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
  send({ event: 'ready', port, version: engine.version, wall });
}

/**
 * Nothing has used the thread pool so far, and the library is loaded: from here on this process needs its own
 * folders alone.
 */
function standBehindWall(paths: StorePaths, koffi: Koffi | null): WallState {
  const rules = {
    writable: [paths.engine, paths.work],
    readable: [...ENGINE_READS, paths.config, paths.users],
    forbidden: paths.secret,
  };
  try {
    return raiseWall(rules, koffi);
  } catch (error) {
    return { standing: false, why: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The parent starts the process that judges readers' statements: from behind the wall nothing can be started.
 */
function connectPolicy(): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    policyArrived = (way) => (way instanceof Error ? reject(way) : resolve(way));
    send({ event: 'policy-wanted' });
  });
}

/**
 * The engine's own handlers of these signals keep a process that has crashed for minutes, waiting for a
 * report that nobody takes: it answers nothing and outlives its parent. To take a signal and give it back
 * brings the system's way.
 */
function dieOfFaults(): void {
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
      if (!isHeldByOther(config.dataDir)) throw error;
      if (performance.now() > deadline) {
        throw new StartFailure('DATA_DIR_LOCKED', error);
      }
      if (attempt === 0)
        send({ event: 'log', level: 'warn', msg: 'waiting for the data folder to be released' });
      await sleep(200);
    }
  }
}

/** The library does not say why it failed, but whoever holds the folder has left its process id there. */
function isHeldByOther(dataDir: string): boolean {
  try {
    const pid = Number(
      /^PID: (\d+)/.exec(readFileSync(join(storePaths(dataDir).engine, 'status'), 'utf8'))?.[1],
    );
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
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

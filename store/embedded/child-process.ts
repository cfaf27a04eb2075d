import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Socket } from 'node:net';
import type { ChildConfig, ChildEvent, ChildFailure, ParentMessage, SandboxState } from './child-protocol.ts';
import { storePaths } from './engine-config.ts';
import { EmbeddedStoreError, type EmbeddedStoreErrorCode } from './errors.ts';
import type { EmbeddedStoreEvent } from './events.ts';
import { ENGINE_FLAGS, engineThreads } from './engine-flags.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { startPolicy } from './reader/policy-start.ts';
import { isCorruption } from './set-aside.ts';

/** The engine's process, ready to answer. */
export interface Child {
  readonly port: number;
  readonly pid: number;
  readonly version: string;
  readonly sandboxState: SandboxState;
  /** Hash of the statement for which the process was ended; null: for none. */
  readonly stuckOn: () => string | null;
  /** Resolves when the process is gone, with its signal or exit code in words. */
  readonly exited: Promise<string>;
  /** Asks for a drained end, and kills the process when that takes longer than the drain may. */
  stop(timeoutMs: number): Promise<void>;
}

/** Time on top of what the child itself may spend, after which it is taken for stuck. */
const graceMs = 5_000;

/**
 * Starts the process and waits until it answers, or `signal` is aborted. @throws EmbeddedStoreError with the
 * child's reason
 */
export async function startChild(
  config: ChildConfig,
  log: (event: EmbeddedStoreEvent) => void,
  signal?: AbortSignal,
): Promise<Child> {
  const child = spawnChild(config.readerLimits);
  const exited = exitOf(child);
  const stderr = keepTail(child);
  let stuckOn: string | null = null;
  const ready = Promise.withResolvers<{ port: number; version: string; sandboxState: SandboxState }>();
  ready.promise.catch(() => undefined);
  child.on('message', (event: ChildEvent) => {
    if (event.event === 'ready') ready.resolve(event);
    else if (event.event === 'failed') ready.reject(startError(event.code, event.message, config, stderr()));
    else if (event.event === 'policy-wanted') void openPolicy(child, config.dataDir);
    else if (event.event === 'stuck') {
      stuckOn ??= event.statement;
      child.kill('SIGKILL');
    } else log({ ...event.fields, level: event.level, msg: event.msg });
  });
  child.once('error', (error) => ready.reject(startError('START_FAILED', error.message, config, '')));
  child.once('exit', (code, signal) => {
    const how = `the process ended at once: ${signal ?? `exit code ${code}`}`;
    ready.reject(startError('START_FAILED', how, config, stderr()));
  });
  post(child, { message: 'start', config });
  const giveUp = (): void =>
    ready.reject(new EmbeddedStoreError('START_FAILED', 'The embedded ClickHouse is not wanted any more.'));
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(() => {
    const seconds = Math.round((config.startTimeoutMs + graceMs) / 1000);
    ready.reject(
      new EmbeddedStoreError('START_TIMEOUT', `The embedded ClickHouse did not answer within ${seconds} s.`, {
        retryable: true,
      }),
    );
  }, config.startTimeoutMs + graceMs);
  try {
    const { port, version, sandboxState } = await ready.promise;
    return {
      port,
      version,
      sandboxState,
      pid: child.pid ?? 0,
      exited,
      stuckOn: () => stuckOn,
      stop: (timeoutMs) => stopChild(child, exited, timeoutMs),
    };
  } catch (error) {
    child.kill('SIGKILL');
    await exited;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function spawnChild({ maxConcurrent }: ReaderLimits): ChildProcess {
  // Beside this file: child.ts in the sources, child.js in the published package.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const script = fileURLToPath(new URL(`./child.${extension}`, import.meta.url));
  return fork(script, [], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ENGINE_FLAGS,
    env: engineEnvironment(engineThreads(maxConcurrent)),
  });
}

/** Nothing of this process's environment, which may hold secrets. */
function engineEnvironment(threads: number): Record<string, string> {
  return { PATH: '/usr/bin:/bin', TZ: 'UTC', LANG: 'C.UTF-8', UV_THREADPOOL_SIZE: String(threads) };
}

async function openPolicy(child: ChildProcess, dataDir: string): Promise<void> {
  try {
    post(child, { message: 'policy', failure: null }, await startPolicy(storePaths(dataDir).policy));
  } catch (error) {
    post(child, { message: 'policy', failure: error instanceof Error ? error.message : String(error) });
  }
}

/** The channel may be closed already: then the exit says so. */
function post(child: ChildProcess, message: ParentMessage, handle?: Socket): void {
  if (child.connected) child.send(message, handle, () => undefined);
  else handle?.destroy();
}

async function stopChild(child: ChildProcess, exited: Promise<string>, timeoutMs: number): Promise<void> {
  post(child, { message: 'stop' });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs + graceMs);
  await exited;
  clearTimeout(timer);
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(signal ?? `exit code ${code}`));
  });
}

function keepTail(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-4000);
  });
  return () => tail.trim();
}

function startError(
  code: ChildFailure,
  message: string,
  config: ChildConfig,
  stderr: string,
): EmbeddedStoreError {
  const [errorCode, text] = wording(code, message, config, stderr);
  return new EmbeddedStoreError(errorCode, text, { retryable: errorCode === 'DATA_DIR_LOCKED' });
}

function wording(
  code: ChildFailure,
  message: string,
  config: ChildConfig,
  stderr: string,
): [EmbeddedStoreErrorCode, string] {
  const lines = stderr.split('\n');
  const reason = lines.findLast((line) => /Error|Exception/.test(line)) ?? lines.at(-1) ?? '';
  const detail = reason === '' ? message : `${message}: ${reason.trim()}`;
  if (code === 'CHDB_MISSING') {
    return [
      code,
      `The embedded ClickHouse needs the optional package chdb, which is not installed or not made for this system. ` +
        `Run "npm install chdb", or use a server: set clickhouse.url or GATEWATCH_CLICKHOUSE_URL. (${message.split('\n')[0]})`,
    ];
  }
  if (code === 'PORT_IN_USE') {
    return [
      code,
      `Port ${config.port} on 127.0.0.1 is in use, so the embedded ClickHouse cannot serve it. ` +
        `Set another one with GATEWATCH_EMBEDDED_PORT, or stop what uses it.`,
    ];
  }
  if (code === 'DATA_DIR_LOCKED' && /Cannot lock file/.test(stderr)) {
    const seconds = Math.round(config.startTimeoutMs / 1000);
    return [
      code,
      `Another process (${message}, its engine) holds the data folder ${config.dataDir}, and did not release it within ${seconds} s. ` +
        `Stop it, or set another folder with GATEWATCH_DATA_DIR.`,
    ];
  }
  if (code === 'START_FAILED' && isCorruption(detail))
    return [
      'DATA_CORRUPT',
      `The files of the embedded ClickHouse in ${config.dataDir} are damaged: ${detail}`,
    ];
  return ['START_FAILED', `The embedded ClickHouse did not start on ${config.dataDir}: ${detail}`];
}

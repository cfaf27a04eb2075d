import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../support/kafka-jars.ts';

const SOURCE = join(import.meta.dirname, 'otelcol');
const READY = 'Everything is ready.';

/** An OpenTelemetry Collector to run, or the reason why there is none. */
export type OtelcolBinary = { readonly path: string } | { readonly reason: string };

/**
 * The Collector of `test/bench/otelcol`, built with the Go on the PATH once for each content of its files,
 * with Go's own progress on standard error. Several processes may call it at once: each builds into a folder
 * of its own, and the first rename wins.
 */
export async function buildOtelcol(): Promise<OtelcolBinary> {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(SOURCE, name)));
  const home = join(cacheFolder(), `otelcol-${hash.digest('hex').slice(0, 16)}`);
  const path = join(home, 'otelcol');
  if (existsSync(path)) return { path };
  await mkdir(cacheFolder(), { recursive: true });
  const folder = await mkdtemp(`${home}-`);
  try {
    console.error('Building an OpenTelemetry Collector from Go modules: minutes, the first time.');
    const reason = await goBuild(join(folder, 'otelcol'));
    if (reason !== null) return { reason };
    await rename(folder, home).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
    return { path };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resolves with the reason when it cannot be built, else with null. */
async function goBuild(output: string): Promise<string | null> {
  // Two packages at a time: a machine that does other work beside it stays usable.
  const args = ['build', '-p', '2', '-trimpath', '-ldflags=-s -w', '-o', output, '.'];
  const go = spawn('go', args, { cwd: SOURCE, stdio: ['ignore', 'ignore', 'pipe'] });
  let last = '';
  go.stderr.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    last = text.trim().split('\n').at(-1) || last;
  });
  try {
    const [code] = (await once(go, 'close')) as [number | null];
    return code === 0 ? null : `The OpenTelemetry Collector cannot be built from Go modules: ${last}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'There is no Go on the PATH.';
    throw error;
  }
}

/** A Collector at work. */
export interface Otelcol {
  readonly pid: number;
  /** What it said last. */
  log(): string;
  /** Ends it in order: what it holds is sent before. */
  stop(): Promise<void>;
}

/** Starts a Collector with a configuration and waits until all of its parts have started. */
export async function startOtelcol(path: string, config: object): Promise<Otelcol> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-otelcol-'));
  const file = join(folder, 'config.yaml');
  // JSON is YAML, too. It holds the writer's password.
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const child = spawn(path, ['--config', `file:${file}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  const ready = Promise.withResolvers<void>();
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4_000);
    if (log.includes(READY)) ready.resolve();
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([
      ready.promise,
      ended.then(() => Promise.reject(new Error(`The OpenTelemetry Collector did not start: ${log}`))),
    ]);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  if (child.pid === undefined) throw new Error('The OpenTelemetry Collector has no process.');
  return { pid: child.pid, log: () => log, stop };
}

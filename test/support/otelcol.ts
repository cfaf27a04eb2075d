import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGoProgram, type GoProgram } from './go-program.ts';

const READY = 'Everything is ready.';

/** An OpenTelemetry Collector of the components in `test/support/go/otelcol`. */
export const buildOtelcol = (): Promise<GoProgram> => buildGoProgram({ name: 'otelcol' });

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

import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../schemas/config.ts';
import { findRunningStore } from '../../store/embedded/connection-file.ts';
import { askCollector, collectorUrl } from '../collector-client.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';

// What this machine must have: a runtime, room on its disk, free ports.

const OLDEST_NODE = 24;
const GIB = 1024 ** 3;
const FAIL_BELOW_BYTES = 0.5 * GIB;
const WARN_BELOW_BYTES = 5 * GIB;

/** The runtime has what the collector needs (decision 1). */
export function nodeCheck(version: string): Check {
  return {
    name: 'node',
    async run() {
      const major = Number(version.split('.')[0]);
      if (major >= OLDEST_NODE) return [ok('node', `Node.js ${version}.`)];
      const advice =
        `Install Node.js ${OLDEST_NODE} or newer; in the repository 'npm ci' brings it, ` +
        'and npm scripts use it.';
      return [fail('node', `Node.js ${version} is too old.`, advice)];
    },
  };
}

/** Free space where the embedded store lives, or will live. */
export function diskCheck(dataDir: string): Check {
  const name = 'disk';
  return {
    name,
    async run() {
      const { bavail, bsize } = await nearest(resolve(dataDir));
      const free = bavail * bsize;
      const text = `${(free / GIB).toFixed(1)} GiB free for ${dataDir}.`;
      const advice =
        'Make room, set GATEWATCH_DATA_DIR to another disk, or keep rows for fewer days (retention).';
      if (free < FAIL_BELOW_BYTES) return [fail(name, text, advice)];
      return [free < WARN_BELOW_BYTES ? warn(name, text, advice) : ok(name, text)];
    },
  };
}

/** The folder, or the nearest one above it that exists. */
async function nearest(folder: string): Promise<{ bavail: number; bsize: number }> {
  try {
    return await statfs(folder);
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    return nearest(parent);
  }
}

type PortConfig = Pick<Config, 'http' | 'embedded' | 'clickhouse' | 'dataDir'>;

/** An address that the collector will listen on. */
interface Address {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  /** gatewatch itself is listening there. */
  readonly isOurs: boolean;
}

/** Are the addresses free that the collector will listen on, or is it the collector that has them? */
export function portCheck(config: PortConfig): Check {
  return {
    name: 'ports',
    async run() {
      const { http, embedded } = config;
      const isRunning = (await askCollector(collectorUrl(config), '/healthz')) !== null;
      const wanted: Address[] = [
        { setting: 'http.port', host: http.host, port: http.port, isOurs: isRunning },
      ];
      if (http.intake !== undefined)
        wanted.push({ setting: 'http.intake.port', ...http.intake, isOurs: isRunning });
      if (config.clickhouse === undefined) {
        const isOurs = (await findRunningStore(config.dataDir)) !== null;
        wanted.push({ setting: 'embedded.port', host: '127.0.0.1', port: embedded.port, isOurs });
      }
      return Promise.all(wanted.map(examine));
    },
  };
}

async function examine({ setting, host, port, isOurs }: Address): Promise<Finding> {
  const check = `port ${setting}`;
  if (isOurs) return ok(check, `gatewatch is running at ${host}:${port}.`);
  if (port === 0) return ok(check, 'A free port is taken at each start.');
  const reason = await tryToListen(host, port);
  if (reason === null) return ok(check, `${host}:${port} is free.`);
  const advice =
    reason === 'EACCES'
      ? 'Ports below 1024 need rights: set another one.'
      : `Set ${setting} to a free one, or stop what uses it.`;
  return fail(check, `${host}:${port} cannot be listened on (${reason}).`, advice);
}

function tryToListen(host: string, port: number): Promise<string | null> {
  const { promise, resolve: done } = Promise.withResolvers<string | null>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'));
  server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  return promise;
}

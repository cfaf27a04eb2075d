import { createServer } from 'node:net';
import { findRunningStore } from '../../store/embedded/connection-file.ts';
import type { Config } from '../../schemas/config.ts';
import { askCollector, collectorUrl } from '../../cli/collector-client.ts';
import { fail, ok, type Check, type Finding } from './check.ts';

type PortConfig = Pick<Config, 'http' | 'embedded' | 'clickhouse' | 'dataDir'>;

/** Are the addresses free that the collector will listen on, or is it the collector that has them? */
export function portCheck(config: PortConfig): Check {
  return {
    name: 'ports',
    async run() {
      const { http } = config;
      const collector = await askCollector(collectorUrl(config), '/healthz');
      const isRunning = collector !== null;
      const store = config.clickhouse === undefined ? await findRunningStore(config.dataDir) : null;
      const wanted = [
        { setting: 'http.port', host: http.host, port: http.port, taken: isRunning },
        ...(http.intake === undefined
          ? []
          : [{ setting: 'http.intake.port', ...http.intake, taken: isRunning }]),
        ...(config.clickhouse === undefined
          ? [
              {
                setting: 'embedded.port',
                host: '127.0.0.1',
                port: config.embedded.port,
                taken: store !== null,
              },
            ]
          : []),
      ];
      return Promise.all(wanted.map(examine));
    },
  };
}

async function examine(address: {
  setting: string;
  host: string;
  port: number;
  taken: boolean;
}): Promise<Finding> {
  const { setting, host, port, taken } = address;
  const check = `port ${setting}`;
  if (taken) return ok(check, `gatewatch is running at ${host}:${port}.`);
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
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  return promise;
}

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { LoadedConfig } from '../config/load.ts';
import { consoleRoutes, type ConsoleRoutesOptions } from '../console/routes.ts';
import { apiRoutes, type ApiOptions } from '../http/api-routes.ts';
import { intakeRoutes, type IntakeOptions } from '../http/intake-routes.ts';
import { startHttpServer, type HttpServer } from '../http/server.ts';

export interface Listeners {
  /** The collector's own interface. */
  readonly http: string;
  /** Where callbacks are taken: the same listener, or one of its own. */
  readonly intake: string;
  stop(graceMs: number): Promise<void>;
}

/** Starts the listener, or two when the intake has its own. @throws GatewatchError `http_listen_failed` */
export async function startListeners(
  config: LoadedConfig['http'],
  api: ApiOptions,
  intake: IntakeOptions,
  console: ConsoleRoutesOptions | null,
  log: Logger,
): Promise<Listeners> {
  const { host, port, maxBodyBytes } = config;
  // Whoever can say these names on purpose is no stranger's page: nobody else can make them point elsewhere.
  const hosts = [...config.hosts, host, hostname()];
  const separate = config.intake !== undefined;
  const main = await startHttpServer({
    host,
    port,
    hosts,
    maxBodyBytes,
    log,
    routes(app) {
      apiRoutes(app, api);
      if (console !== null) consoleRoutes(app, console);
      if (!separate) intakeRoutes(app, intake);
    },
  });
  let own: HttpServer | null = null;
  if (config.intake !== undefined) {
    try {
      own = await startHttpServer({
        ...config.intake,
        hosts: [...hosts, config.intake.host],
        maxBodyBytes,
        log,
        routes: (app) => intakeRoutes(app, intake),
      });
    } catch (error) {
      await main.stop(0);
      throw error;
    }
  }
  return {
    http: main.url,
    intake: (own ?? main).url,
    stop: async (graceMs) => void (await Promise.all([main.stop(graceMs), own?.stop(graceMs)])),
  };
}

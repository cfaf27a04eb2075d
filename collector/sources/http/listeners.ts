import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { HttpConfig, TlsConfig } from '../../../schemas/config-http.ts';
import type { LoadedConfig } from '../../../schemas/config.ts';
import { apiRoutes, type ApiOptions } from './api-routes.ts';
import type { CallbackAccess } from './callback-access.ts';
import type { Refused } from './guard.ts';
import { intakeRoutes, type IntakeOptions } from './intake-routes.ts';
import { startHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
import { readTlsFiles, type TlsFiles } from './tls.ts';

export interface Listeners {
  /** The collector's own interface. */
  readonly http: string;
  /** Where callbacks are received: the same listener, or one of its own. */
  readonly intake: string;
  /** Uses these certificates for new connections. */
  renewTls(files: ListenerTls): void;
  stop(graceMs: number): Promise<void>;
}

/** Certificates of the listeners that have one. */
export interface ListenerTls {
  readonly main: TlsFiles | undefined;
  readonly intake: TlsFiles | undefined;
}

export interface ListenerParts {
  readonly api: ApiOptions;
  readonly intake: Omit<IntakeOptions, 'access' | 'onRefused'>;
  /** Adds the console's routes; null without a console. */
  readonly console: ((app: FastifyInstance) => void) | null;
  readonly access: CallbackAccess;
  readonly onRefused: (reason: Refused) => void;
  readonly log: Logger;
}

/** @throws GatewatchError `config_invalid` when a file cannot be read or does not fit */
export function readListenerTls({ tls, intake }: HttpConfig): ListenerTls {
  const read = (files: TlsConfig | undefined) => (files === undefined ? undefined : readTlsFiles(files));
  return { main: read(tls), intake: read(intake?.tls) };
}

/**
 * Starts the listener, or two when the intake has its own.
 * @throws GatewatchError `http_listen_failed` or `config_invalid`
 */
export async function startListeners(config: LoadedConfig['http'], parts: ListenerParts): Promise<Listeners> {
  const { host, port, intake } = config;
  const { access, onRefused, log } = parts;
  const tls = readListenerTls(config);
  const common = (own: string, files: TlsFiles | undefined): Omit<HttpServerOptions, 'port' | 'routes'> => ({
    host: own,
    maxBodyBytes: config.maxBodyBytes,
    limits: config.limits,
    trustedProxies: config.trustedProxies,
    // Names of this machine, and those that we listen on, cannot be made to resolve elsewhere.
    hosts: [...config.hosts, host, own, hostname()],
    isTrusted: access.isGatewayAddress,
    onRefused,
    log,
    ...(files === undefined ? {} : { tls: files }),
  });
  const main = await startHttpServer({
    ...common(host, tls.main),
    port,
    routes(app) {
      apiRoutes(app, parts.api);
      parts.console?.(app);
      if (intake === undefined) intakeRoutes(app, { ...parts.intake, access, onRefused });
    },
  });
  let own: HttpServer | null = null;
  if (intake !== undefined) {
    try {
      own = await startHttpServer({
        ...common(intake.host, tls.intake),
        port: intake.port,
        routes: (app) => intakeRoutes(app, { ...parts.intake, access, onRefused }),
      });
    } catch (error) {
      await main.stop(0);
      throw error;
    }
  }
  return {
    http: main.url,
    intake: (own ?? main).url,
    renewTls(files) {
      if (files.main !== undefined) main.renewTls(files.main);
      if (files.intake !== undefined) own?.renewTls(files.intake);
    },
    stop: async (graceMs) => void (await Promise.all([main.stop(graceMs), own?.stop(graceMs)])),
  };
}

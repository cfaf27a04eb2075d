import { gatewayConfigSchema } from '../../schemas/config.ts';
import { pino } from 'pino';
import { apiRoutes, type ApiOptions } from '../../collector/sources/http/api-routes.ts';
import { createCallbackAccess, type CallbackGateway } from '../../collector/sources/http/callback-access.ts';
import type { Refused } from '../../collector/sources/http/guard.ts';
import { intakeRoutes, type IntakeDelivery } from '../../collector/sources/http/intake-routes.ts';
import {
  startHttpServer,
  type HttpServer,
  type HttpServerOptions,
} from '../../collector/sources/http/server.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { judgeWatchRequests } from '../../collector/orders/watch-requests.ts';
import type { Rows } from '../../schemas/rows.ts';

const GATEWAY = gatewayConfigSchema.parse({
  name: 'acme-eu',
  secureUrl: 'https://gateway.example',
  token: 'a-token',
});

export const MAX_BODY = 10_000;

export interface HttpScene {
  readonly server: HttpServer;
  readonly deliveries: IntakeDelivery[];
  readonly watched: WatchRequest[];
  readonly annotations: Rows['annotations'][];
  readonly logged: { level: number; msg: string }[];
  /** Whatever stands behind the routes; throw to break it. */
  behind: () => Promise<void>;
  received: number;
  /** Why requests were turned back unread. */
  readonly refused: Refused[];
}

/** The collector's routes on a real socket, and what they hand on. */
export async function startScene(
  api: Partial<ApiOptions> = {},
  listener: Partial<HttpServerOptions> = {},
  gateway: Partial<CallbackGateway> = {},
): Promise<HttpScene> {
  const logged: HttpScene['logged'] = [];
  const log = pino(
    {},
    { write: (line) => void logged.push(JSON.parse(line) as HttpScene['logged'][number]) },
  );
  const scene: Omit<HttpScene, 'server'> = {
    deliveries: [],
    watched: [],
    annotations: [],
    logged,
    behind: async () => {},
    received: 0,
    refused: [],
  };
  const gateways = new Map([['acme-eu', { callbackAddresses: [], ...gateway }]]);
  const healthy = () => ({ ok: true, problems: {}, details: {} });
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: MAX_BODY,
    log,
    onRefused: (reason) => void scene.refused.push(reason),
    ...listener,
    routes(app) {
      apiRoutes(app, {
        version: '1.2.3',
        health: healthy,
        ready: healthy,
        metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'up 1\n' }),
        judge: (requests) => judgeWatchRequests(requests, new Map([[GATEWAY.name, GATEWAY]])),
        async watch(requests) {
          await scene.behind();
          scene.watched.push(...requests);
        },
        async timeline(query) {
          await scene.behind();
          return query.id === 'unknown' ? null : (query as never);
        },
        cascadeSafety: async () => ({ ok: false, conflict: false, detail: 'nobody asks' }),
        gateways: [GATEWAY.name],
        async annotate(row) {
          await scene.behind();
          scene.annotations.push(row);
        },
        now: () => 1_795_256_130_000_000,
        landing: null,
        ...api,
      });
      intakeRoutes(app, {
        access: createCallbackAccess(gateways),
        onRefused: (reason) => void scene.refused.push(reason),
        async accept(delivery) {
          await scene.behind();
          scene.deliveries.push(delivery);
        },
        onReceived: () => (scene.received += 1),
      });
    },
  });
  return Object.assign(scene, { server });
}

export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const reply = await fetch(url, { method: 'POST', body, headers });
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, text };
}

export const asJson = { 'content-type': 'application/json' };

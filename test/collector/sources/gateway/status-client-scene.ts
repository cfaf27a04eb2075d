import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { HttpReply } from '../../../../schemas/polling.ts';
import {
  createStatusClient,
  type StatusClient,
} from '../../../../collector/sources/gateway/status-client.ts';
import { gatewayConfigSchema } from '../../../../schemas/config.ts';
import type { WatchedOrder } from '../../../../schemas/watch.ts';
import { startHttpGateway, type HttpGateway } from '../../../support/http-gateway.ts';
import { watchedOrder } from '../../../support/watched-order.ts';

export const TOKEN = 'a-token-that-nobody-else-has';

export interface ClientOptions {
  readonly secureUrl?: string;
  readonly poll?: object;
  readonly pathPrefix?: string;
  readonly paths?: object;
}

export interface ClientScene {
  gateway(): HttpGateway;
  client(options?: ClientOptions): StatusClient;
  /** One read of an order from a gateway that answers so. */
  read(respond: RequestListener, order?: WatchedOrder, poll?: object): Promise<HttpReply>;
}

/** A gateway for the tests of a file, and clients that are closed after each. */
export function useGateway(): ClientScene {
  let gateway: HttpGateway;
  let clients: StatusClient[] = [];
  beforeAll(async () => {
    gateway = await startHttpGateway((_request, response) => response.end('{}'));
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.requests.splice(0));
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
  });

  function client({ secureUrl = gateway.url, poll, ...rest }: ClientOptions = {}): StatusClient {
    const config = { name: 'acme-eu', token: TOKEN, secureUrl, poll: { deadlineMs: 2000, ...poll }, ...rest };
    const made = createStatusClient(gatewayConfigSchema.parse(config));
    clients.push(made);
    return made;
  }
  return {
    gateway: () => gateway,
    client,
    async read(respond, order = watchedOrder(), poll = {}) {
      gateway.respond = respond;
      return client({ poll }).read(order);
    },
  };
}

export const body = (text: string | Buffer, headers: Record<string, string> = {}) =>
  ((_request, response) => response.writeHead(200, headers).end(text)) satisfies RequestListener;

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts';
import { uniqueName } from '../../support/kafka-topics.ts';
import { SECRETS } from './disguises.ts';
import { GATEWAY, reply } from './events.ts';

/** A collector between a gateway, a broker and a telemetry backend that are all ours. */
export interface Scene {
  readonly collector: CollectorProcess;
  /** The intake writes the first, strangers the second. */
  readonly topics: { readonly intake: string; readonly foreign: string; readonly watch: string };
  /** Numbers of the orders that were read. */
  readonly asked: ReadonlySet<number>;
  readonly telemetry: readonly string[];
  stop(): Promise<void>;
}

export async function startScene(brokers: readonly string[]): Promise<Scene> {
  const asked = new Set<number>();
  const telemetry: string[] = [];
  const gateway = await listen((request, response) => {
    const n = Number(/\/o-(\d+)\//.exec(request.url ?? '')?.[1] ?? 'NaN');
    const answer = Number.isNaN(n) ? { status: 404, headers: {}, body: '' } : reply(n);
    asked.add(n);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const backend = await listen(async (request, response) => {
    const body = await buffer(request);
    const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    telemetry.push(plain.toString('utf8'));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  const topics = {
    intake: uniqueName('intake'),
    foreign: uniqueName('foreign'),
    watch: uniqueName('watch'),
  };
  const kafka = {
    brokers: [...brokers],
    groupId: uniqueName('group'),
    callbackTopics: [topics.intake, { topic: topics.foreign, gateway: GATEWAY }],
    watchTopic: topics.watch,
    createTopics: true,
  };
  const collector = await startCollectorProcess({
    config: {
      gateways: [
        {
          name: GATEWAY,
          secureUrl: urlOf(gateway),
          token: SECRETS.bearer,
          callbackKeys: [SECRETS.key],
          poll: { delaysS: [30], rereadsS: [1], jitter: 0, requestsPerSecond: 300, concurrency: 32 },
        },
      ],
      ...(brokers.length === 0 ? {} : { kafka }),
      log: { level: 'trace' },
    },
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(backend), OTEL_METRIC_EXPORT_INTERVAL: '1000' },
  });
  return {
    collector,
    topics,
    asked,
    telemetry,
    async stop() {
      await collector[Symbol.asyncDispose]();
      for (const server of [gateway, backend]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

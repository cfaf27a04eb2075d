import { once } from 'node:events';
import { createServer } from 'node:http';

/** What a webhook gets, in the shape that Grafana and Alertmanager share. */
export interface Notification {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly status: string;
    readonly groupLabels: Readonly<Record<string, string>>;
    readonly title?: string;
    readonly message?: string;
    readonly alerts: readonly {
      readonly status: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string>>;
      readonly startsAt: string;
      readonly endsAt: string;
    }[];
  };
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly Notification[];
  /** Requests so far, those that were not taken among them. */
  requests(): number;
  /** Status of the answers from now on, for all gateways or for one; 0 hangs up without an answer. */
  answer(status: number, gateway?: string): void;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Notification[] = [];
  let count = 0;
  let all = 200;
  const own = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      count++;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Notification['body'];
      const status = own.get(body.groupLabels['gateway'] ?? '') ?? all;
      if (status === 0) {
        response.destroy();
        return;
      }
      if (status === 200)
        received.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    received,
    requests: () => count,
    answer(status, gateway) {
      if (gateway === undefined) all = status;
      else own.set(gateway, status);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

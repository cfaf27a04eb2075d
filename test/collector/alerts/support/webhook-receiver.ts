import { once } from 'node:events';
import { createServer } from 'node:http';

/** What a webhook is told, in the shape that Grafana and Alertmanager share. */
export interface Told {
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
  readonly told: readonly Told[];
  /** Status of the answers from now on. */
  answer(status: number): void;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const told: Told[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (status === 200)
        told.push({
          path: request.url ?? '',
          authorization: request.headers.authorization,
          body: JSON.parse(Buffer.concat(chunks).toString()) as Told['body'],
        });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    told,
    answer: (next) => void (status = next),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

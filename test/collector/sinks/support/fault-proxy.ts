import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `swallow`: the server does its work, the answer never arrives. `cut`: the connection breaks before the
 * request has been passed on. `hang`: nothing is answered.
 */
export type Fault = 'swallow' | 'cut' | 'hang';

export interface FaultProxy {
  readonly url: string;
  /** Decides for each statement; null lets it pass. */
  setFault(decide: (statement: string) => Fault | null): void;
  /** Statements seen, oldest first. */
  readonly seen: readonly string[];
  /** How often a fault has been applied. */
  faults(): number;
  close(): Promise<void>;
}

/** A proxy in front of ClickHouse's HTTP interface which breaks chosen requests. */
export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const target = new URL(upstream);
  const seen: string[] = [];
  let decide: ((statement: string) => Fault | null) | null = null;
  let applied = 0;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const query = new URL(incoming.url ?? '/', upstream).searchParams.get('query');
    const statement = query ?? body.toString('utf8');
    seen.push(statement);
    const fault = decide?.(statement) ?? null;
    if (fault !== null) applied += 1;
    if (fault === 'hang') return;
    if (fault === 'cut') return void incoming.socket.destroy();
    const forwarded = httpRequest({
      host: target.hostname,
      port: target.port,
      path: incoming.url,
      method: incoming.method,
      headers: { ...incoming.headers, host: target.host },
    });
    forwarded.end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    const answerBody = await buffer(answer);
    if (fault === 'swallow') return void incoming.socket.destroy();
    const headers = { ...answer.headers };
    delete headers['transfer-encoding'];
    outgoing.writeHead(answer.statusCode ?? 500, headers);
    outgoing.end(answerBody);
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFault(next) {
      decide = next;
    },
    seen,
    faults: () => applied,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The first statement which matches gets the fault, all others pass. */
export function faultOnce(fault: Fault, pattern: RegExp): (statement: string) => Fault | null {
  let done = false;
  return (statement) => {
    if (done || !pattern.test(statement)) return null;
    done = true;
    return fault;
  };
}

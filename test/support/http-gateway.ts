import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

/** A server of a test's own on loopback. */
export interface TestServer {
  readonly port: number;
  /** Connections taken since the start. */
  connections(): number;
  stop(): Promise<void>;
}

/** Listens on a free port with any kind of server. */
export async function listen(server: NetServer): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface HttpGateway extends TestServer {
  readonly url: string;
  readonly requests: IncomingMessage[];
  /** What the next requests get. */
  respond: (request: IncomingMessage, response: ServerResponse) => void;
}

/** A gateway that answers whatever a test gives it, well-formed or not. */
export async function startHttpGateway(respond: RequestListener): Promise<HttpGateway> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    gateway.respond(request, response);
  });
  const listening = await listen(server);
  const gateway: HttpGateway = { ...listening, url: `http://127.0.0.1:${listening.port}`, requests, respond };
  return gateway;
}

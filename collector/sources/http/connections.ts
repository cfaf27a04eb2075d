import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { senderOf } from './addresses.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Connections from these addresses are neither counted nor closed in favour of others. */
  readonly isTrusted: (address: string) => boolean;
  readonly onClosed: () => void;
}

interface Connection {
  readonly socket: Socket;
  readonly sender: string;
  /** Requests that have been received in full and are not answered yet. */
  answering: number;
}

/**
 * Bounds a server's open connections. Beyond the bound, one of the sender with the most connections is
 * closed: the least recently used, preferably none whose request is being answered. A sender that opens many
 * connections, or sends slowly, thereby loses its own.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  // Sets and maps keep insertion order: the most recently used comes last.
  const senders = new Map<string, Set<Connection>>();
  const open = new Map<string, Connection>();

  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return void socket.destroy();
    if (limits.isTrusted(remoteAddress)) return undefined;
    const connection = { socket, sender: senderOf(remoteAddress), answering: 0 };
    const id = idOf(socket);
    open.set(id, connection);
    const own = senders.get(connection.sender) ?? new Set();
    senders.set(connection.sender, own.add(connection));
    socket.once('close', () => {
      open.delete(id);
      own.delete(connection);
      if (own.size === 0) senders.delete(connection.sender);
    });
    if (own.size > limits.maxConnectionsPerAddress) closeOneOf(own);
    else if (open.size > limits.maxConnections) closeOneOf(largest(senders) ?? own);
    return undefined;
  });

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(idOf(request.socket));
    if (connection === undefined) return;
    let isWhole = false;
    request.once('end', () => {
      isWhole = true;
      connection.answering += 1;
    });
    response.once('close', () => {
      if (isWhole) connection.answering -= 1;
      const own = senders.get(connection.sender);
      if (own?.delete(connection) !== true) return;
      own.add(connection);
      senders.delete(connection.sender);
      senders.set(connection.sender, own);
    });
  });

  function closeOneOf(connections: ReadonlySet<Connection>): void {
    let chosen: Connection | undefined;
    for (const connection of connections) {
      chosen = connection;
      if (connection.answering === 0) break;
    }
    chosen?.socket.destroy();
    limits.onClosed();
  }
}

/** Under TLS a request has another socket than the one that connected; the remote end is the same. */
function idOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}|${remotePort}`;
}

function largest(senders: ReadonlyMap<string, ReadonlySet<Connection>>): ReadonlySet<Connection> | undefined {
  let found: ReadonlySet<Connection> | undefined;
  for (const connections of senders.values())
    if (found === undefined || connections.size > found.size) found = connections;
  return found;
}

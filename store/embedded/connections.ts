import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps a server's connections within a bound, so that whoever opens many takes the place of nobody who
 * writes.
 */
export interface Connections {
  /** The connection has shown that it is the writer's: it is never closed for others. */
  trust(socket: Socket): void;
}

/**
 * At the bound, the oldest connection that is not trusted gives way to a new one.
 *
 * @param max how many connections that are not trusted may be open
 */
export function limitConnections(server: Server, max: number): Connections {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= max) return;
    // A set keeps the order of insertion.
    const [oldest] = open;
    oldest?.destroy();
  });
  return { trust: (socket) => void open.delete(socket) };
}

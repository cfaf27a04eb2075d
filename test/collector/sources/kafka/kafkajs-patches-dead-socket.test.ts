import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { patchKafkajs } from '../../../../collector/sources/kafka/kafkajs-patches.ts';

interface Connection {
  socket: Socket;
  disconnect(): Promise<true>;
}

it('a connection of kafkajs that takes leave of a dead socket again and again leaves no listeners on it', async () => {
  patchKafkajs();
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/connection') as {
    prototype: Connection;
  };
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
  await once(socket, 'close');
  const connection = Object.assign(Object.create(prototype) as Connection, {
    socket,
    requestQueue: { waitForPendingRequests: async () => undefined, destroy: () => undefined },
    logDebug: () => undefined,
  });
  for (let i = 0; i < 20; i += 1) await connection.disconnect();
  expect(socket.listenerCount('connect')).toBe(0);
  server.close();
});

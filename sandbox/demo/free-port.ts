import { createServer } from 'node:net';

/** The wanted port if it is free on loopback, else another one that is. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const { port: actual } = server.address() as { port: number };
      server.close(() => resolve(actual));
    });
  });
}

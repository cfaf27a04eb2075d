import { connect } from 'node:net';

export interface RawAnswers {
  /** Status of each answer, in order; 100 Continue left out. */
  readonly statuses: readonly number[];
  /** The deadline passed and the connection was still open. */
  readonly hung: boolean;
}

/**
 * Sends bytes over a connection of its own and gives the answers that come until it is closed: for requests
 * that no client sends. The last request should ask for the end of the connection.
 */
export async function sendBytes(
  url: string,
  from: string,
  bytes: Uint8Array | string,
  options: { readonly deadlineMs: number; readonly hangUp?: boolean },
): Promise<RawAnswers> {
  const { hostname, port } = new URL(url);
  const chunks: Buffer[] = [];
  let hung = false;
  await new Promise<void>((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from });
    const timer = setTimeout(() => {
      hung = true;
      socket.destroy();
    }, options.deadlineMs);
    socket.on('connect', () => {
      socket.write(bytes);
      if (options.hangUp === true) socket.destroySoon();
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // A server that closes early resets what it did not read; what it said counts.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  const text = Buffer.concat(chunks).toString('latin1');
  const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1]));
  return { statuses: statuses.filter((status) => status !== 100), hung };
}

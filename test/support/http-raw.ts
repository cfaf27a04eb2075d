import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends bytes as they are, and gives what comes back until the server closes: for requests that clients
 * refuse to send.
 */
export async function sendRaw(url: string, request: string | Uint8Array): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('close', () => resolve());
    socket.on('error', (error: NodeJS.ErrnoException) =>
      // A server that closes early resets what it did not read; what it said counts.
      chunks.length > 0 ? resolve() : reject(error),
    );
  });
  const text = Buffer.concat(chunks).toString('latin1');
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  return { status: Number(head.split(' ', 2)[1]), head, body };
}

/** A POST request, written by hand, that asks for the connection to be closed. */
export function rawPost(path: string, headers: readonly string[], body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body as string);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    `Content-Length: ${bytes.byteLength}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

import { request as httpRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface From {
  /** Address of this machine that the connection comes from: all of 127.0.0.0/8 is ours on Linux. */
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Kept open for the next request. @default a connection of its own */
  readonly agent?: Agent;
  /** Certificate that is trusted, PEM. */
  readonly ca?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request over a connection from a given address. */
export async function requestFrom(url: string, options: From = {}): Promise<Answer> {
  const { from, method = 'GET', headers = {}, body, agent, ca } = options;
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, headers: { ...length, ...headers }, localAddress: from, agent: agent ?? false, ca },
      (response) =>
        void buffer(response).then(
          (bytes) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: bytes.toString('utf8'),
            }),
          reject,
        ),
    );
    request.on('error', reject);
    request.end(body);
  });
}

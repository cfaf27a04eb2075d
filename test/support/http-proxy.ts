import { createServer, request as httpRequest } from 'node:http';
import { listen, type TestServer } from './http-gateway.ts';

export interface TestProxy extends TestServer {
  /** Request lines so far: `GET http://gateway.example/...`. */
  readonly asked: string[];
}

/** A proxy as companies have them, which leads every name to one port of this machine. */
export async function startHttpProxy(port: () => number): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    asked.push(`${method} ${url}`);
    const { pathname, search } = new URL(url);
    const onward = httpRequest(
      { host: '127.0.0.1', port: port(), method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  return { ...(await listen(server)), asked };
}

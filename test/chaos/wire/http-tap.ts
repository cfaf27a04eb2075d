import { cutAt, newExchange, NO_BYTES, pass, type Exchange, type Tap, type TapHost } from './exchange.ts';

/** Names a request by its first line and, when the address holds no statement, the start of its body. */
export type NameRequest = (method: string, target: string, bodyStart: string) => string;

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * HTTP/1.1 on one kept connection, without pipelining, as the store's and the gateway's clients speak it:
 * bytes of the client after an answer begin the next request.
 */
export function createHttpTap(host: TapHost, nameOf: NameRequest): Tap {
  let turn: 'client' | 'server' | 'idle' = 'idle';
  let exchange: Exchange | null = null;
  /** The request's bytes until it can be named; the answer's until its head is complete. */
  let held: Buffer[] = [];

  return {
    up(chunk) {
      if (turn !== 'client') {
        turn = 'client';
        exchange = null;
        held = [];
      }
      if (exchange !== null) {
        exchange.requestBytes += chunk.length;
        return cutAt(host, 'request', exchange, { head: NO_BYTES, rest: chunk, first: false }) ?? pass(chunk);
      }
      held.push(chunk);
      const bytes = Buffer.concat(held);
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) return { forward: [] };
      const [method = '', target = ''] = bytes
        .subarray(0, bytes.indexOf('\r\n'))
        .toString('latin1')
        .split(' ');
      const body = bytes.subarray(end + HEAD_END.length);
      const needsBody = method === 'POST' && !/[?&]query=/.test(target);
      if (needsBody && body.length === 0 && !isEmptyBody(bytes.subarray(0, end))) return { forward: [] };
      exchange = newExchange(nameOf(method, target, textOf(body)));
      exchange.requestBytes = bytes.length;
      host.asked(exchange);
      held = [];
      const head = bytes.subarray(0, end + HEAD_END.length);
      return cutAt(host, 'request', exchange, { head, rest: body, first: true }) ?? pass(bytes);
    },
    down(chunk) {
      if (exchange === null) return pass(chunk);
      if (turn === 'server' && exchange.status !== null) {
        return cutAt(host, 'answer', exchange, { head: NO_BYTES, rest: chunk, first: false }) ?? pass(chunk);
      }
      if (turn !== 'server') held = [];
      turn = 'server';
      held.push(chunk);
      const bytes = Buffer.concat(held);
      const end = bytes.indexOf(HEAD_END);
      if (end === -1) return { forward: [] };
      held = [];
      const head = bytes.subarray(0, end).toString('latin1');
      exchange.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
      const code = /^x-clickhouse-exception-code: (\d+)/im.exec(head)?.[1];
      exchange.errorCode = code === undefined ? null : Number(code);
      const rest = bytes.subarray(end + HEAD_END.length);
      const cut = cutAt(host, 'answer', exchange, {
        head: bytes.subarray(0, bytes.length - rest.length),
        rest,
        first: true,
      });
      if (cut !== null) return cut;
      host.answered(exchange);
      return pass(bytes);
    },
  };
}

/** The body's first words, without the length of its first chunk. */
function textOf(body: Buffer): string {
  return body
    .subarray(0, 400)
    .toString('utf8')
    .replace(/^[0-9a-f]+\r\n/i, '');
}

function isEmptyBody(head: Buffer): boolean {
  return /^content-length: 0\s*$/im.test(head.toString('latin1'));
}

/** `insert TABLE`, `ddl`, `select` or `ping`. */
export const nameStoreRequest: NameRequest = (method, target, bodyStart) => {
  if (method === 'GET' && target.startsWith('/ping')) return 'ping';
  const inAddress = /[?&]query=([^&]*)/.exec(target)?.[1];
  const statement = inAddress === undefined ? bodyStart : decodeURIComponent(inAddress.replaceAll('+', ' '));
  const text = statement.replaceAll(/^\s*--[^\n]*\n/gm, '').trim();
  const table = /^insert\s+into\s+(\w+)/i.exec(text)?.[1];
  if (table !== undefined && /format\s+arrowstream/i.test(text)) return `insert ${table}`;
  if (/^(create|alter|drop|insert)\b/i.test(text)) return 'ddl';
  return 'select';
};

export const nameGatewayRequest: NameRequest = (method, target) =>
  method === 'GET' && target.includes('/status') ? 'status' : 'other';

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** One way in which a gateway can be hostile: what it answers when it is asked for an order. */
export interface HostileReply {
  readonly name: string;
  /** How often, against the others. */
  readonly weight: number;
  /** @param n counts replies, so that two need not be alike */
  readonly answer: (response: ServerResponse, id: string, n: number) => void;
}

const WEEK_MS = 7 * 86_400_000;
const HOUR_MS = 3_600_000;

const json = (response: ServerResponse, body: string): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(body);
};
const order = (externalId: string, more: object = {}): object => ({
  externalId,
  orderStatus: 'Processing',
  amount: 100,
  ...more,
});
/** `count` items, `stepMs` apart, oldest first; the newest one lies `offsetMs` from now. */
const items = (count: number, stepMs: number, offsetMs = 0): { time: string; action: string }[] =>
  Array.from({ length: count }, (_, index) => ({
    time: new Date(Date.now() + offsetMs - index * stepMs).toISOString(),
    action: '4.2.2.13',
  })).toReversed();
const history = (externalId: string, orderHistory: unknown): string =>
  JSON.stringify(order(externalId, { orderHistory }));

/** Sent past Node's HTTP: it would not let such bytes through. */
const raw = (response: ServerResponse, ...bytes: (string | Buffer)[]): void => {
  const { socket } = response;
  for (const some of bytes) socket?.write(some);
  socket?.end();
};

const HUNDRED_MIB_PACKED = gzipSync(Buffer.alloc(100 << 20));

function drip(response: ServerResponse, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), everyMs);
  response.on('close', () => clearInterval(timer));
}

function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 << 10, 0x20);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

function hints(response: ServerResponse): void {
  const { socket } = response;
  const timer = setInterval(
    () => socket?.write('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(50)),
    20,
  );
  socket?.on('close', () => clearInterval(timer));
}

export const REPLIES: readonly HostileReply[] = [
  {
    name: 'a thousand and forty weeks',
    weight: 4,
    answer: (response, id, n) => json(response, history(id, items(1_040, WEEK_MS, -n * 1_000))),
  },
  {
    name: 'ten thousand items',
    weight: 1,
    answer: (response, id) => json(response, history(id, items(10_000, 1_000))),
  },
  {
    name: 'more items than a reply may have',
    weight: 1,
    answer: (response, id) => json(response, history(id, items(12_000, 1_000))),
  },
  {
    name: 'items of years to come',
    weight: 4,
    answer: (response, id, n) => json(response, history(id, items(500, -WEEK_MS, 48 * HOUR_MS + n))),
  },
  { name: 'two megabytes', weight: 2, answer: (response) => json(response, ' '.repeat(2 << 20)) },
  { name: 'a body without end', weight: 1, answer: endless },
  { name: 'a byte now and then', weight: 1, answer: (response) => drip(response, 100) },
  { name: 'hints without end', weight: 1, answer: hints },
  { name: 'nothing at all', weight: 1, answer: () => undefined },
  {
    name: 'chunks that are none',
    weight: 4,
    answer: (response) =>
      raw(response, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n\u0000\r\n'),
  },
  {
    name: 'a deep nesting',
    weight: 4,
    answer: (response, id) => json(response, history(id, 0).replace('0', '['.repeat(300_000))),
  },
  {
    name: 'a deep nesting in an item',
    weight: 4,
    answer: (response, id) =>
      json(response, history(id, [0]).replace('[0]', `${'['.repeat(2_000)}${']'.repeat(2_000)}`)),
  },
  {
    name: 'keys that come twice',
    weight: 4,
    answer: (response, id) =>
      json(response, `{"externalId":"x","externalId":"${id}","orderStatus":"A","orderStatus":"Success"}`),
  },
  {
    name: 'a packed body of a hundred megabytes',
    weight: 2,
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(HUNDRED_MIB_PACKED);
    },
  },
  {
    name: 'another address',
    weight: 4,
    answer: (response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/stolen' });
      response.end();
    },
  },
  {
    name: 'unknown orders',
    weight: 8,
    answer: (response) => {
      response.writeHead(404);
      response.end('{}');
    },
  },
  {
    name: 'an amount that is none',
    weight: 4,
    answer: (response, id) => json(response, JSON.stringify(order(id)).replace('100', 'NaN')),
  },
  {
    name: 'an amount beyond all numbers',
    weight: 4,
    answer: (response, id) => json(response, JSON.stringify(order(id)).replace('100', '1e400')),
  },
  {
    name: 'an id of a hundred thousand letters',
    weight: 4,
    answer: (response) => json(response, JSON.stringify(order('漢'.repeat(100_000)))),
  },
  { name: 'a connection that breaks', weight: 4, answer: (response) => response.socket?.destroy() },
  {
    name: 'a TLS alert',
    weight: 4,
    answer: (response) => raw(response, Buffer.from([0x15, 3, 3, 0, 2, 2, 40])),
  },
  {
    name: 'headers of a megabyte',
    weight: 2,
    answer: (response) => raw(response, 'HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1 << 20)}\r\n`, '\r\n'),
  },
  {
    name: 'a status line that is none',
    weight: 4,
    answer: (response) => raw(response, 'HTTP/9.9 -1 \u0007\r\n\r\n'),
  },
];

const TOTAL = REPLIES.reduce((sum, { weight }) => sum + weight, 0);

export function pickReply(random: () => number): HostileReply {
  let left = random() * TOTAL;
  for (const reply of REPLIES) if ((left -= reply.weight) < 0) return reply;
  return REPLIES[0] as HostileReply;
}

import { deflateSync, gzipSync } from 'node:zlib';
import type { Verdict } from '../../../schemas/rows.ts';
import { signed } from '../support/good-traffic.ts';

/** What a hostile message may know and use. */
export interface Aim {
  /** Differs from message to message. */
  readonly nonce: string;
  /** 0 to below 1. */
  readonly random: () => number;
  /** Larger bodies are refused. */
  readonly maxBodyBytes: number;
}

/** One kind of hostile message. */
export interface Hostile {
  readonly kind: string;
  /** Statuses of the answers; an empty list: the connection is closed without one. */
  readonly answers: readonly number[];
  /** The sender may still write when it is refused: then the answer is lost with the connection. */
  readonly mayBeCutOff?: true;
  /** Verdict of each row that it leaves. */
  readonly verdict?: Verdict;
  /** It goes away after its last byte. */
  readonly hangsUp?: true;
  readonly bytes: (aim: Aim) => string | Buffer;
}

/** Of the collector that is attacked. */
export const MAX_BODY_BYTES = 262_144;
export const GATEWAYS = { open: 'sandbox', secret: 'guarded', fenced: 'fenced' } as const;
const WRONG_KEY = 'a key that is not the gateway’s';
const PATH = `/callbacks/${GATEWAYS.open}`;

interface Raw {
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly host?: string;
  readonly keep?: boolean;
}

/** A POST by hand; without a header for the length when the headers say how it is sent. */
function post(
  body: string | Buffer,
  { path = PATH, headers = [], host = '127.0.0.1', keep = false }: Raw = {},
) {
  const bytes = Buffer.from(body as string);
  const hasLength = headers.some((line) => /^(content-length|transfer-encoding)/i.test(line));
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(keep ? [] : ['Connection: close']),
    ...(hasLength ? [] : [`Content-Length: ${bytes.byteLength}`]),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

const forged = ({ nonce }: Aim) => signed(`forged-${nonce}`, WRONG_KEY);
const forgedPost = (aim: Aim, raw: Raw = {}) => {
  const { body, signature } = forged(aim);
  return post(body, { ...raw, headers: [`Signature: ${signature}`, ...(raw.headers ?? [])] });
};
const pick = <T>(aim: Aim, from: readonly T[]): T => from[Math.floor(aim.random() * from.length)] as T;

/** Taken, and left as a row with its verdict. */
const TAKEN: readonly Hostile[] = [
  { kind: 'wrong signature', answers: [200], verdict: 'mismatch', bytes: (aim) => forgedPost(aim) },
  {
    kind: 'no signature',
    answers: [200],
    verdict: 'missing_signature',
    bytes: (aim) => post(forged(aim).body),
  },
  {
    kind: 'two signatures',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) => forgedPost(aim, { headers: ['signature: another'] }),
  },
  {
    kind: 'wrong content type',
    answers: [200],
    verdict: 'mismatch',
    bytes: (aim) =>
      forgedPost(aim, {
        headers: [
          `Content-Type: ${pick(aim, ['text/html', ';;;', 'multipart/form-data', 'application/xml'])}`,
        ],
      }),
  },
  {
    kind: 'malformed JSON',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) => {
      const { body, signature } = forged(aim);
      const cut = body.slice(0, 1 + Math.floor(aim.random() * (body.length - 2)));
      return post(`${aim.nonce}${cut}`, { headers: [`Signature: ${signature}`] });
    },
  },
  {
    kind: 'JSON of another shape',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) =>
      post(pick(aim, [`"${aim.nonce}"`, `["${aim.nonce}"]`, `{"externalId":{"a":"${aim.nonce}"}}`])),
  },
  {
    kind: 'deeply nested JSON',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) => {
      const depth = 1_000 + Math.floor(aim.random() * 49_000);
      return post(`{"externalId":"${aim.nonce}","x":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    },
  },
  {
    kind: 'compressed body',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) => {
      const [pack, encoding] = pick(aim, [
        [gzipSync, 'gzip'],
        [deflateSync, 'deflate'],
      ] as const);
      const bomb = pack(`${aim.nonce}${'0'.repeat(100_000)}`);
      return post(bomb, { headers: [`Content-Encoding: ${encoding}`] });
    },
  },
  {
    kind: 'bytes that are no text',
    answers: [200],
    verdict: 'malformed',
    bytes: (aim) => post(Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(aim.nonce)])),
  },
  {
    kind: 'pipelined requests',
    answers: [200, 200, 200, 200, 200],
    verdict: 'mismatch',
    bytes: (aim) =>
      Buffer.concat(
        [1, 2, 3, 4, 5].map((n) => forgedPost({ ...aim, nonce: `${aim.nonce}-${n}` }, { keep: n < 5 })),
      ),
  },
  {
    kind: 'a body in tiny chunks',
    answers: [200],
    verdict: 'mismatch',
    bytes: (aim) => {
      const { body, signature } = forged(aim);
      const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join('');
      return post(`${chunks}0\r\n\r\n`, {
        headers: [`Signature: ${signature}`, 'Transfer-Encoding: chunked'],
      });
    },
  },
];

/** Turned back by their size. */
const TOO_LARGE: readonly Hostile[] = [
  {
    kind: 'a body that is too large',
    answers: [413],
    mayBeCutOff: true,
    bytes: ({ maxBodyBytes }) => post('x'.repeat(maxBodyBytes + 1)),
  },
  {
    kind: 'a length that is too large, and no body',
    answers: [413],
    bytes: () => post('', { headers: ['Content-Length: 99999999999'] }),
  },
  {
    kind: 'chunks that are too large',
    answers: [413],
    mayBeCutOff: true,
    bytes: ({ maxBodyBytes }) =>
      post(`${(maxBodyBytes + 9).toString(16)}\r\n${'x'.repeat(maxBodyBytes + 9)}\r\n0\r\n\r\n`, {
        headers: ['Transfer-Encoding: chunked'],
      }),
  },
  {
    kind: 'a flood of headers',
    answers: [431],
    mayBeCutOff: true,
    bytes: (aim) =>
      forgedPost(aim, { headers: Array.from({ length: 3_000 }, (_, n) => `X-${n}: ${aim.nonce}`) }),
  },
  {
    kind: 'one endless header',
    answers: [431],
    mayBeCutOff: true,
    bytes: (aim) => forgedPost(aim, { headers: [`Signature: ${'a'.repeat(40_000)}`] }),
  },
  {
    kind: 'an endless name of a gateway',
    answers: [414],
    bytes: (aim) => forgedPost(aim, { path: `/callbacks/${'a'.repeat(8_000)}` }),
  },
];

/** Turned back by who sends them, or where to. */
const STRANGERS: readonly Hostile[] = [
  {
    kind: 'a foreign host',
    answers: [421],
    bytes: (aim) =>
      forgedPost(aim, { host: pick(aim, ['evil.example', '127.0.0.1.evil.example', 'localhost@evil', '']) }),
  },
  {
    kind: 'a foreign page',
    answers: [403],
    bytes: (aim) =>
      forgedPost(aim, {
        headers: [
          pick(aim, [
            'Origin: https://evil.example',
            'Origin: null',
            'Origin: http://127.0.0.1:1',
            'Sec-Fetch-Site: cross-site',
            'Sec-Fetch-Site: same-site',
          ]),
        ],
      }),
  },
  {
    kind: 'an unknown gateway',
    answers: [404],
    bytes: (aim) =>
      forgedPost(aim, { path: `/callbacks/${pick(aim, ['nobody', 'SANDBOX', 'sandbox%20', aim.nonce])}` }),
  },
  {
    kind: 'a path that leads elsewhere',
    answers: [404],
    bytes: (aim) =>
      forgedPost(aim, {
        path: pick(aim, [
          '/callbacks/../../etc/passwd',
          '/callbacks/..%2f..%2fetc%2fpasswd',
          '/callbacks/sandbox/../sandbox',
          '//callbacks/sandbox',
          '/callbacks/sandbox//',
          '/callbacks/sandbox%00',
        ]),
      }),
  },
  {
    kind: 'a path that cannot be decoded',
    answers: [400],
    bytes: (aim) => forgedPost(aim, { path: '/callbacks/%zz' }),
  },
  {
    kind: 'a guess at the path secret',
    answers: [404],
    bytes: (aim) => forgedPost(aim, { path: `/callbacks/${GATEWAYS.secret}/${aim.nonce}` }),
  },
  {
    kind: 'an address that is not the gateway’s',
    answers: [403],
    bytes: (aim) => forgedPost(aim, { path: `/callbacks/${GATEWAYS.fenced}` }),
  },
  {
    kind: 'another method',
    answers: [404],
    bytes: (aim) =>
      `${pick(aim, ['GET', 'PUT', 'DELETE', 'PATCH'])} ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
  },
];

/** No HTTP, or several readings of it. */
const SMUGGLERS: readonly Hostile[] = [
  {
    kind: 'a length and chunks',
    answers: [400],
    bytes: (aim) => forgedPost(aim, { headers: ['Content-Length: 4', 'Transfer-Encoding: chunked'] }),
  },
  {
    kind: 'two lengths',
    answers: [400],
    bytes: (aim) => forgedPost(aim, { headers: ['Content-Length: 4', 'Content-Length: 400'] }),
  },
  {
    kind: 'a length that is none',
    answers: [400],
    bytes: (aim) =>
      forgedPost(aim, { headers: [`Content-Length: ${pick(aim, ['-1', '+5', '0x10', '1 2'])}`] }),
  },
  {
    kind: 'a chunk size that is none',
    answers: [400],
    bytes: (aim) =>
      post(`${pick(aim, ['zz', '-1', 'FFFFFFFFFFFFFFFFF', ' 5'])}\r\nabcde\r\n0\r\n\r\n`, {
        headers: ['Transfer-Encoding: chunked'],
      }),
  },
  {
    kind: 'an encoding that hides chunks',
    answers: [400],
    bytes: (aim) => forgedPost(aim, { headers: ['Transfer-Encoding: chunked, identity', 'X: 1'] }),
  },
  {
    kind: 'a header with a line break',
    answers: [400],
    bytes: (aim) => forgedPost(aim, { headers: ['X-A: 1\nX-B : 2', 'broken header'] }),
  },
  {
    kind: 'no host',
    answers: [400],
    bytes: (aim) =>
      `POST ${PATH} HTTP/1.1\r\nConnection: close\r\nX: ${aim.nonce}\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    kind: 'no HTTP at all',
    answers: [400],
    bytes: (aim) =>
      pick(aim, [
        '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
        'SSH-2.0-x\r\n',
        'GET\r\n\r\n',
        '{}\r\n\r\n',
      ]),
  },
  {
    kind: 'half a request',
    answers: [],
    hangsUp: true,
    bytes: (aim) => forgedPost(aim).subarray(0, 100 + Math.floor(aim.random() * 100)),
  },
];

export const HOSTILE: readonly Hostile[] = [...TAKEN, ...TOO_LARGE, ...STRANGERS, ...SMUGGLERS];

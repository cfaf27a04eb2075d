import type { IHeaders } from 'kafkajs';
import { signedCallback } from '../../integration/support/gateway.ts';

export interface HostileMessage {
  readonly key: string | Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

/** One way to be hostile, and what has to become of each such message. */
export interface Kind {
  readonly name: string;
  readonly topic: 'callbacks' | 'watch';
  /** How often, against the others. */
  readonly weight: number;
  /** A callback's verdict, a reject's reason, or that the order is watched. */
  readonly outcome: string;
  make(n: number, random: () => number): HostileMessage;
}

const text = (value: string, headers: IHeaders = {}): HostileMessage => ({
  key: 'k',
  value: Buffer.from(value),
  headers,
});
const bytes = (count: number, random: () => number): Buffer =>
  Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const SIGNATURE = 'a'.repeat(64);
const wrong = (n: number): { body: string; signature: string } =>
  signedCallback({ externalId: `forged-${n}` }, 'not-the-key-of-this-gateway-0000');
const manyHeaders = (count: number): IHeaders =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'v']));

const CALLBACKS: readonly Omit<Kind, 'topic'>[] = [
  {
    name: 'garbage',
    weight: 10,
    outcome: 'malformed',
    make: (_n, random) => ({
      key: bytes(8, random),
      value: bytes(300, random),
      headers: { Signature: SIGNATURE },
    }),
  },
  {
    name: 'nothing',
    weight: 4,
    outcome: 'tombstone',
    make: () => ({ key: null, value: null, headers: { Signature: SIGNATURE } }),
  },
  {
    name: 'forged signature',
    weight: 30,
    outcome: 'mismatch',
    make: (n) => text(wrong(n).body, { Signature: wrong(n).signature }),
  },
  { name: 'no signature', weight: 10, outcome: 'missing_signature', make: (n) => text(wrong(n).body) },
  {
    name: 'ten thousand headers',
    weight: 0.05,
    outcome: 'mismatch',
    make: (n) => text(wrong(n).body, { ...manyHeaders(10_000), Signature: wrong(n).signature }),
  },
  {
    name: 'nesting',
    weight: 2,
    outcome: 'malformed',
    make: (_n, random) => text(nested(1_000 + Math.floor(random() * 20_000)), { Signature: SIGNATURE }),
  },
  {
    name: 'half a megabyte',
    weight: 0.1,
    outcome: 'malformed',
    make: () => text(`{"externalId":"${'x'.repeat(500_000)}"}`, { Signature: SIGNATURE }),
  },
  {
    name: 'a prototype as a body',
    weight: 2,
    outcome: 'malformed',
    make: () => text('{"__proto__":{"externalId":"x"},"constructor":1}', { Signature: SIGNATURE }),
  },
  {
    name: 'a gateway that nobody knows',
    weight: 6,
    outcome: 'unknown_gateway',
    make: (n) => text(wrong(n).body, { gateway: `nobody-${n % 7}\n'`, Signature: SIGNATURE }),
  },
  {
    name: 'an odd delivery id',
    weight: 4,
    outcome: 'mismatch',
    make: (n) =>
      text(wrong(n).body, { 'delivery-id': `\u0000'"\n${n}`.repeat(80), Signature: wrong(n).signature }),
  },
];

const WATCH: readonly Omit<Kind, 'topic'>[] = [
  {
    name: 'garbage to watch',
    weight: 10,
    outcome: 'watch_message_malformed',
    make: (_n, random) => ({ key: bytes(20, random), value: bytes(200, random), headers: {} }),
  },
  {
    name: 'nothing to watch',
    weight: 3,
    outcome: 'tombstone',
    make: () => ({ key: null, value: null, headers: {} }),
  },
  {
    name: 'an id that leaves its path',
    weight: 6,
    outcome: 'watch_message_malformed',
    make: (n) => text(JSON.stringify({ orderType: 'Deposit', externalId: `../../admin/${n}` })),
  },
  {
    name: 'a very long id',
    weight: 4,
    outcome: 'watch_message_malformed',
    make: (n) => text(JSON.stringify({ orderType: 'Deposit', externalId: '漢'.repeat(300) + n })),
  },
  {
    name: 'an id of two hundred letters outside ASCII',
    weight: 0.5,
    outcome: 'watched',
    make: (n) => text(JSON.stringify({ orderType: 'Deposit', externalId: '漢'.repeat(190) + (n % 500) })),
  },
  {
    name: 'an amount that is none',
    weight: 4,
    outcome: 'watch_message_malformed',
    make: () => text('{"orderType":"Deposit","externalId":"a","amount":"NaN"}'),
  },
  {
    name: 'nesting to watch',
    weight: 2,
    outcome: 'watch_message_malformed',
    make: () => text(nested(50_000)),
  },
  {
    name: 'a gateway to watch that nobody knows',
    weight: 4,
    outcome: 'unknown_gateway',
    make: (n) =>
      text(JSON.stringify({ gateway: `nobody-${n % 5}`, orderType: 'Deposit', externalId: `w${n}` })),
  },
];

export const KINDS: readonly Kind[] = [
  ...CALLBACKS.map((kind): Kind => ({ ...kind, topic: 'callbacks' })),
  ...WATCH.map((kind): Kind => ({ ...kind, topic: 'watch' })),
];

const TOTAL = KINDS.reduce((sum, { weight }) => sum + weight, 0);

export function pickKind(random: () => number): Kind {
  let left = random() * TOTAL;
  for (const kind of KINDS) if ((left -= kind.weight) < 0) return kind;
  return KINDS[0] as Kind;
}

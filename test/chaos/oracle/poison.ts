import type { Message } from 'kafkajs';
import type { Random } from '../../../sandbox/random.ts';

/**
 * What can be wrong with a record of the callback topic. Each is stored with a verdict, or rejected with a
 * reason; a tombstone is counted only.
 */
export const CALLBACK_POISON = [
  'random-bytes',
  'truncated-json',
  'no-object',
  'empty',
  'tombstone',
  'sql',
  'bad-utf8',
  'large',
  'semicolon',
  'wrong-signature',
  'no-signature',
  'two-signatures',
  'unknown-gateway',
] as const;
export type CallbackPoison = (typeof CALLBACK_POISON)[number];

const LARGE_BYTES = 100_000;

export function poisonCallback(random: Random, externalId: string): Message {
  const kind = random.pick(CALLBACK_POISON);
  const deliveryId = random.uuid();
  const body = JSON.stringify({
    externalId,
    status: 'Success',
    amount: `${random.int(1, 9999)}.00`,
    currency: 'EUR',
    orderType: 'Deposit',
    nonce: deliveryId,
  });
  const wrong = random.hex(64);
  return {
    key: externalId,
    value: valueOf(kind, random, body),
    headers: {
      chaos: `poison ${kind}`,
      'delivery-id': deliveryId,
      ...(kind === 'no-signature'
        ? {}
        : { Signature: kind === 'two-signatures' ? [wrong, random.hex(64)] : wrong }),
      ...(kind === 'unknown-gateway' ? { gateway: 'nobody' } : {}),
    },
  };
}

function valueOf(kind: CallbackPoison, random: Random, body: string): Buffer | string | null {
  switch (kind) {
    case 'random-bytes':
      return Buffer.from(Array.from({ length: random.int(1, 300) }, () => random.int(0, 255)));
    case 'truncated-json':
      return body.slice(0, random.int(1, body.length - 1));
    case 'no-object':
      return `[${random.int(1, 1e9)}]`;
    case 'empty':
      return '';
    case 'tombstone':
      return null;
    case 'sql':
      return `${random.hex(8)}\n\nDROP TABLE history_events_store;\n`;
    case 'bad-utf8':
      return Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from([0xc3, 0x28, 0x7d])]);
    case 'large':
      return `{"externalId":"${random.hex(8)}","filler":"${'x'.repeat(LARGE_BYTES)}"}`;
    case 'semicolon':
      return body.replace('"Success"', '"Success;1.00"');
    default:
      return body;
  }
}

/** A record of the watch topic that cannot be taken: it ends in `rejects`. */
export function poisonWatch(random: Random): Message {
  const kind = random.pick(['random-bytes', 'truncated-json', 'no-id', 'unknown-gateway', 'sql'] as const);
  const message = { gateway: 'nobody', orderType: 'Deposit', externalId: random.uuid() };
  const value =
    kind === 'random-bytes'
      ? Buffer.from(Array.from({ length: random.int(1, 200) }, () => random.int(0, 255)))
      : kind === 'truncated-json'
        ? JSON.stringify(message).slice(0, 30)
        : kind === 'no-id'
          ? JSON.stringify({ orderType: 'Deposit', nonce: random.hex(8) })
          : kind === 'sql'
            ? `${random.hex(8)}\n\nDROP TABLE orders_store;\n`
            : JSON.stringify(message);
  return { key: random.hex(8), value, headers: { chaos: `poison ${kind}` } };
}

import { createHash } from 'node:crypto';
import { signatureBase } from '../../../schemas/gateway/callback.ts';
import { testClient, uniqueName, withAdmin } from '../../support/kafka-topics.ts';

/** One record as the broker holds it. */
export interface AcceptedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly value: Buffer;
  readonly chaos: string;
  /** The number that the bridge gave it; null for poison. */
  readonly sequence: number | null;
  readonly key: string;
  readonly signatures: readonly string[];
  readonly deliveryId: string;
  readonly gateway: string | null;
  /** Stands for the whole body where the intake wrote a part of it. */
  readonly bodyHash: string | null;
}

/** Reads a topic from its beginning to where it ends now, past the code under test. */
export async function readAccepted(brokers: readonly string[], topic: string): Promise<AcceptedRecord[]> {
  const ends = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
  const left = new Map(
    ends.filter(({ high, low }) => high !== low).map(({ partition, high }) => [partition, BigInt(high)]),
  );
  const records: AcceptedRecord[] = [];
  if (left.size === 0) return records;
  const consumer = testClient(brokers).consumer({ groupId: uniqueName('oracle') });
  const { promise: complete, resolve } = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    async eachBatch({ batch }) {
      for (const message of batch.messages) {
        const headers = (name: string): string[] => {
          const key = Object.keys(message.headers ?? {}).find((one) => one.toLowerCase() === name);
          const value = key === undefined ? undefined : message.headers?.[key];
          return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) =>
            one.toString('latin1'),
          );
        };
        const coordinates = `${topic}/${batch.partition}@${message.offset}`;
        const sequence = headers('seq')[0];
        records.push({
          topic,
          partition: batch.partition,
          offset: message.offset,
          value: message.value ?? Buffer.alloc(0),
          chaos: headers('chaos')[0] ?? 'intake',
          sequence: sequence === undefined ? null : Number(sequence),
          key: message.key?.toString('latin1') ?? '',
          signatures: headers('signature'),
          deliveryId: headers('delivery-id')[0] ?? coordinates,
          gateway: headers('gateway')[0] ?? null,
          bodyHash: headers('body-sha256')[0] ?? null,
        });
      }
      if (BigInt(batch.lastOffset()) + 1n >= (left.get(batch.partition) ?? 0n)) left.delete(batch.partition);
      if (left.size === 0) resolve();
    },
  });
  await complete;
  await consumer.disconnect();
  return records;
}

/** One distinct callback content, as the view must show it. */
export interface ExpectedCallback {
  readonly verdict: string;
  readonly externalId: string | null;
  readonly status: string | null;
  readonly amount: string | null;
  readonly orderType: string | null;
  readonly deliveries: Set<string>;
}

/**
 * What the records of the callback topic must become: contents with their deliveries, and rejects by delivery
 * id.
 */
export function expectCallbacks(
  records: readonly AcceptedRecord[],
  key: string,
  gateways: readonly string[],
): { callbacks: Map<string, ExpectedCallback>; rejects: Set<string> } {
  const callbacks = new Map<string, ExpectedCallback>();
  const rejects = new Set<string>();
  for (const record of records) {
    // A record without a value is a compacted topic's way to say that a key is gone: nothing follows from it.
    if (record.chaos === 'poison tombstone') continue;
    if (record.gateway !== null && !gateways.includes(record.gateway)) {
      rejects.add(record.deliveryId);
      continue;
    }
    const hash = contentHash(record);
    const known = callbacks.get(hash);
    if (known === undefined)
      callbacks.set(hash, { ...judge(record, key), deliveries: new Set([record.deliveryId]) });
    else known.deliveries.add(record.deliveryId);
  }
  return { callbacks, rejects };
}

/** Body and signatures, each with its length, and what stands for the rest. */
function contentHash({ value, signatures, bodyHash }: AcceptedRecord): string {
  const sha = createHash('sha256').update(`${value.byteLength}\n`).update(value);
  for (const signature of signatures) sha.update(`\n${signature.length}\n${signature}`);
  if (bodyHash !== null) sha.update(`\nbody ${bodyHash}`);
  return sha.digest('hex');
}

type Judged = Omit<ExpectedCallback, 'deliveries'>;
const NOTHING: Judged = {
  verdict: 'malformed',
  externalId: null,
  status: null,
  amount: null,
  orderType: null,
};

/** The verdict by section 6.3, worked out anew: the oracle does not ask the code under test. */
function judge({ value, signatures, chaos }: AcceptedRecord, privateKey: string): Judged {
  const kind = /^poison (.*)$/.exec(chaos)?.[1];
  const readable = [undefined, 'wrong-signature', 'no-signature', 'two-signatures'].includes(kind);
  if (!readable) return NOTHING;
  const body = JSON.parse(value.toString('utf8')) as Record<string, string>;
  const { externalId = '', status = '', amount = '', orderType = 'Deposit' } = body;
  const fields = { externalId, status, amount, orderType };
  if (signatures.length > 1) return { ...fields, verdict: 'malformed' };
  if (signatures.length === 0) return { ...fields, verdict: 'missing_signature' };
  const base = signatureBase({ ...fields, orderType: orderType as 'Deposit' }, privateKey);
  const valid = createHash('sha256').update(base).digest('hex') === signatures[0];
  return { ...fields, verdict: valid ? 'valid' : 'mismatch' };
}

import { HEADERS } from '../../schemas/names.ts';
import { rejectRow } from '../../schemas/reject-row.ts';
import type { EpochMicros, RejectRow } from '../../schemas/rows.ts';
import type { CallbackDelivery } from '../decode/callback.ts';
import type { Fingerprint } from '../decode/fingerprint.ts';
import { storedDeliveryId } from '../decode/grammar.ts';
import { stableId } from '../decode/ids.ts';
import { decodeOwnerHint } from '../../schemas/owner-hint.ts';
import { decodeWatchMessage } from '../../schemas/watch-message.ts';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import type { WatchRequest } from '../../schemas/watch-message.ts';
import { handleCallbacks } from './callbacks.ts';
import { coordinatesOf, coordinatesRange, coordinatesText } from './coordinates.ts';
import type { OrdersContext } from './context.ts';
import { handleWatchRequests } from './watch-requests.ts';

const BODY_HASH = /^[0-9a-f]{64}$/;
const BODY_SEAL = /^[0-9]{1,5}$/;

/** Which gateway a topic's messages are from when they do not say. */
export type GatewayOfTopic = (topic: string) => string | undefined;

/**
 * The delivery in a record of a callback topic. The value is the callback's body byte for byte, or what our
 * own intake kept of it, with a hash that stands for the whole. The gateway is the header's, else the
 * topic's, else the only one. Without a `delivery-id` header, the record's coordinates identify the delivery.
 * Anybody can write that header: what does not fit its grammar is replaced.
 */
export function toDelivery(
  record: KafkaRecord,
  gatewayOfTopic: GatewayOfTopic,
  receivedAt: EpochMicros,
  fingerprint: Fingerprint,
): CallbackDelivery {
  const text = (name: string) =>
    record.headers.get(name)?.map((value) => Buffer.from(value).toString('latin1')) ?? [];
  const [gateway] = text(HEADERS.gateway);
  const [deliveryId = ''] = text(HEADERS.deliveryId);
  const bodyHash = text(HEADERS.bodySha256);
  const [bodySeal = ''] = text(HEADERS.bodySeal);
  const [signatureCause = null] = text(HEADERS.signatureCause);
  return {
    gateway: gateway ?? gatewayOfTopic(record.topic) ?? '',
    body: record.value ?? new Uint8Array(),
    // A header that a producer writes twice alike is one.
    signatures: [...new Set(text(HEADERS.signature))],
    signatureCause,
    deliveryId: deliveryId === '' ? coordinatesText(record) : storedDeliveryId(deliveryId, fingerprint),
    bodyHash: bodyHash.length === 1 && BODY_HASH.test(bodyHash[0] ?? '') ? (bodyHash[0] ?? null) : null,
    bodySeal: BODY_SEAL.test(bodySeal) && Number(bodySeal) < 65_536 ? Number(bodySeal) : null,
    receivedAt,
    source: 'kafka',
    coordinates: coordinatesOf(record),
  };
}

/** Takes records of a callback topic to acknowledgement, see `handleCallbacks`. */
export async function handleCallbackRecords(
  records: readonly KafkaRecord[],
  gatewayOf: GatewayOfTopic,
  context: OrdersContext,
  taken: () => void,
): Promise<void> {
  const { readable, provenance } = await readableOf(records, context);
  if (provenance.kafkaRecords === 0) return taken();
  const deliveries = readable.map((record) =>
    toDelivery(record, gatewayOf, context.clock.now(), context.fingerprint),
  );
  await handleCallbacks(deliveries, context, provenance, taken);
}

/** Takes records of the watch topic to acknowledgement, see `handleWatchRequests`. */
export async function handleWatchRecords(
  records: readonly KafkaRecord[],
  context: OrdersContext,
): Promise<void> {
  const { readable, provenance } = await readableOf(records, context);
  if (provenance.kafkaRecords === 0) return;
  await handleWatchRequests(readable.map(toWatchRequest), context, provenance);
}

/**
 * The records that can be read; those that cannot are stored as rejects. Tombstones, which a compacted topic
 * has in the place of what was deleted, say nothing: they are counted and no more.
 */
async function readableOf(all: readonly KafkaRecord[], { clock, write, instruments }: OrdersContext) {
  const records = all.filter((record) => !isTombstone(record));
  if (records.length < all.length)
    instruments.tombstones.add(all.length - records.length, { topic: all[0]?.topic ?? '' });
  const { readable, rejects } = setApart(records, clock.now());
  if (rejects.length > 0) await write({ rejects }, {});
  return {
    readable,
    provenance: { kafkaRecords: records.length, coordinates: coordinatesRange(records) },
  };
}

const isTombstone = ({ value, unreadable }: KafkaRecord): boolean =>
  value === null && unreadable === undefined;

/** The request in a record of the watch topic: a watch message, or a hint of another collector. */
export function toWatchRequest(record: KafkaRecord): WatchRequest {
  const place = {
    source: 'kafka',
    deliveryId: coordinatesText(record),
    coordinates: coordinatesOf(record),
  } as const;
  if (record.headers.has(HEADERS.ownerHint)) {
    const decoded = decodeOwnerHint(record.value);
    return decoded.ok
      ? { message: null, hint: decoded.hint, problem: null, ...place }
      : { message: null, hint: null, problem: decoded.problem, ...place };
  }
  const decoded = decodeWatchMessage(record.value);
  return {
    message: decoded.ok ? decoded.message : null,
    problem: decoded.ok ? null : decoded.problem,
    ...place,
  };
}

/** Records to handle, and a reject for each that stands for a batch which cannot be read. */
function setApart(
  records: readonly KafkaRecord[],
  now: EpochMicros,
): { readable: readonly KafkaRecord[]; rejects: RejectRow[] } {
  if (records.every((record) => record.unreadable === undefined)) return { readable: records, rejects: [] };
  return {
    readable: records.filter((record) => record.unreadable === undefined),
    rejects: records.flatMap((record) => unreadableRow(record, now)),
  };
}

function unreadableRow(record: KafkaRecord, now: EpochMicros): RejectRow[] {
  const { unreadable } = record;
  if (unreadable === undefined) return [];
  const { problem, firstOffset, lastOffset, bytes } = unreadable;
  const reason = problem === 'too_large' ? 'kafka_batch_too_large' : 'kafka_batch_damaged';
  return [
    rejectRow({
      gateway: '',
      reason,
      rejectId: stableId(`${reason}|${coordinatesText(record)}`),
      rejectedAt: now,
      source: 'kafka',
      problem: {
        field: 'records',
        received: `offsets ${firstOffset} to ${lastOffset}, packed in ${bytes} bytes`,
        expected:
          problem === 'too_large' ? 'at most 16 MiB and 200,000 records' : 'a batch that can be unpacked',
      },
      coordinates: coordinatesOf(record),
    }),
  ];
}

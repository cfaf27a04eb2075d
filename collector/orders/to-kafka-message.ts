import type { GatewayConfig, KafkaConfig } from '../../schemas/config.ts';
import { parseKeepingIds } from '../../schemas/json.ts';
import { HEADERS } from '../../schemas/names.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import { reduceCallback } from '../decode/reduce.ts';
import type { SignatureExaminer } from './signature-examiner.ts';

/** A callback that the intake hands on to Kafka. */
export interface ProducibleCallback {
  readonly gateway: string;
  readonly body: Uint8Array;
  readonly signatures: readonly string[];
  readonly deliveryId: string;
}

/**
 * The Kafka message for a callback that our intake received. The value holds the fields that are signed or
 * needed, or the whole body byte for byte when `kafka.callbackBodies` is `whole`. The delivery's id is a
 * header.
 */
export function toKafkaMessage(
  delivery: ProducibleCallback,
  gateways: ReadonlyMap<string, GatewayConfig>,
  bodies: KafkaConfig['callbackBodies'] | undefined,
  examiner: SignatureExaminer,
) {
  const gateway = gateways.get(delivery.gateway);
  if (gateway === undefined) throw new TypeError(`no gateway named ${delivery.gateway}`);
  if (bodies === 'whole') return message(delivery, delivery, messageKey(delivery.body), {});
  const reduced = reduceCallback(delivery.body, delivery.signatures, {
    keys: gateway.callbackKeys,
    seal: gateway.token,
    keepsCardLikeIds: gateway.cardLikeIds === 'keep',
    examine: (mismatch) => examiner.examine(gateway, mismatch),
  });
  const { bodyHash, bodySeal, signatureCause, verified, orderId } = reduced;
  if (verified !== null) examiner.remember(gateway.name, verified, delivery.signatures[0] ?? '');
  return message(delivery, reduced, orderId, {
    [HEADERS.bodySha256]: bodyHash,
    [HEADERS.bodySeal]: String(bodySeal),
    ...(signatureCause === null ? {} : { [HEADERS.signatureCause]: signatureCause }),
  });
}

function message(
  { gateway, deliveryId }: ProducibleCallback,
  { body, signatures }: Pick<ProducibleCallback, 'body' | 'signatures'>,
  key: string | null,
  headers: Record<string, string>,
) {
  return {
    key,
    value: body,
    headers: {
      ...(signatures.length === 0
        ? {}
        : { Signature: signatures.map((text) => Buffer.from(text, 'latin1')) }),
      [HEADERS.gateway]: gateway,
      [HEADERS.deliveryId]: deliveryId,
      ...headers,
    },
  };
}

/** The order's id, so that callbacks of one order stay in one partition; null when the body has none. */
function messageKey(body: Uint8Array): string | null {
  try {
    const { externalId } = parseKeepingIds(Buffer.from(body).toString('utf8')) as { externalId?: unknown };
    return typeof externalId === 'string' && externalId.length <= 200 ? canonicalId(externalId) : null;
  } catch {
    return null;
  }
}

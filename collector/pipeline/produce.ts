import { HEADERS } from '../../schemas/names.ts';

/** What the intake hands on. */
export interface ProducibleCallback {
  readonly gateway: string;
  readonly body: Uint8Array;
  readonly signatures: readonly string[];
  readonly deliveryId: string;
}

/** A callback of our own intake as a Kafka message: the body byte for byte, every signature, and an id of the delivery. */
export function callbackMessage(delivery: ProducibleCallback) {
  return {
    key: messageKey(delivery.body),
    value: delivery.body,
    headers: {
      ...(delivery.signatures.length === 0
        ? {}
        : { Signature: delivery.signatures.map((text) => Buffer.from(text, 'latin1')) }),
      [HEADERS.gateway]: delivery.gateway,
      [HEADERS.deliveryId]: delivery.deliveryId,
    },
  };
}

/** The order's id, so that callbacks of one order stay in one partition; null when the body does not tell. */
function messageKey(body: Uint8Array): string | null {
  try {
    const { externalId } = JSON.parse(Buffer.from(body).toString('utf8')) as { externalId?: unknown };
    return typeof externalId === 'string' && externalId.length <= 200 ? externalId : null;
  } catch {
    return null;
  }
}

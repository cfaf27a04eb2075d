import { callbackSchema, isUsualCallback, type Callback } from '../../schemas/gateway/callback.ts';
import type { CallbackDeliveryRow, EpochMicros, Verdict } from '../../schemas/rows.ts';
import type { Secret } from '../../schemas/secret.ts';
import { sha256Bytes } from './ids.ts';
import { firstProblem, problemText } from './problem.ts';
import { looksLikeCardNumber } from './redact.ts';
import { verifySignature } from './signature.ts';

/** A callback as it was delivered, with where it came from. */
export interface CallbackDelivery {
  readonly gateway: string;
  /** The request body, byte for byte. */
  readonly body: Uint8Array;
  /** Every `Signature` header there was. */
  readonly signatures: readonly string[];
  /** Equal for a producer's retry and for a re-read of ours, different for a re-send of the gateway's. */
  readonly deliveryId: string;
  readonly receivedAt: EpochMicros;
  readonly source: 'kafka' | 'http';
  readonly coordinates: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
  } | null;
}

export interface DecodedCallback {
  readonly row: CallbackDeliveryRow;
  readonly verdict: Verdict;
  /** The content, when it could be read. Trust it only when the verdict says so; even then it is a hint. */
  readonly callback: Callback | null;
}

interface Judgement {
  readonly verdict: Verdict;
  readonly problem: string;
  readonly callback: Callback | null;
}

const MAX_BODY_BYTES = 262_144;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads and verifies one callback (interface document, sections 6.2 and 6.3). Total: any bytes give a row. */
export function decodeCallback(delivery: CallbackDelivery, keys: readonly Secret[]): DecodedCallback {
  const { verdict, problem, callback } = judge(delivery, keys);
  const row: CallbackDeliveryRow = {
    gateway: delivery.gateway,
    content_hash: contentHash(delivery),
    delivery_id: delivery.deliveryId,
    received_at: delivery.receivedAt,
    verdict,
    external_id: callback?.externalId ?? null,
    status: callback?.status ?? null,
    amount: callback?.amount ?? null,
    order_type: callback?.orderType ?? null,
    currency: callback?.currency ?? null,
    problem,
    source: delivery.source,
    topic: delivery.coordinates?.topic ?? '',
    kafka_partition: delivery.coordinates?.partition ?? null,
    kafka_offset: delivery.coordinates?.offset ?? null,
    body_bytes: delivery.body.byteLength,
  };
  return { row, verdict, callback };
}

function judge(delivery: CallbackDelivery, keys: readonly Secret[]): Judgement {
  const { callback, problem } = readCallback(delivery.body);
  if (callback === null) return { verdict: 'malformed', problem, callback };
  const judged = judgeSignature(callback, delivery.signatures, keys);
  // A gateway may number its orders, and one number in ten passes for a card's: who holds the key is believed.
  const trusted = judged.verdict === 'valid' || judged.verdict === 'valid_previous_key';
  if (!trusted && looksLikeCardNumber(callback.externalId)) {
    return { verdict: 'malformed', problem: CARD_FOUND, callback: null };
  }
  return { ...judged, callback };
}

function judgeSignature(
  callback: Callback,
  signatures: readonly string[],
  keys: readonly Secret[],
): Omit<Judgement, 'callback'> {
  const [signature, ...more] = signatures;
  if (more.length > 0) {
    return { verdict: 'malformed', problem: `Signature: expected one header, received ${signatures.length}` };
  }
  if (signature === undefined || signature.trim() === '') {
    const problem = 'Signature: expected 64 hexadecimal digits, received nothing';
    return { verdict: 'missing_signature', problem };
  }
  const verdict = verifySignature(callback, signature, keys);
  const problem = 'Signature: does not match the content under any configured key';
  return { verdict, problem: verdict === 'mismatch' ? problem : '' };
}

const CARD_FOUND = 'body: expected no card number outside externalParams, received one';

type Read = { callback: Callback; problem: '' } | { callback: null; problem: string };

const refuse = (problem: string): Read => ({ callback: null, problem });

function readCallback(body: Uint8Array): Read {
  if (body.byteLength === 0) return refuse('body: expected JSON, received nothing');
  if (body.byteLength > MAX_BODY_BYTES) {
    return refuse(`body: expected at most ${MAX_BODY_BYTES} bytes, received ${body.byteLength}`);
  }
  let input: unknown;
  try {
    input = parseKeepingAmount(strictUtf8.decode(body));
  } catch {
    // The parser's message quotes the input, which may hold card data: it is not repeated.
    return refuse('body: expected JSON in UTF-8, received something else');
  }
  const parsed = isUsualCallback(input)
    ? ({ success: true, data: input } as const)
    : callbackSchema.safeParse(input);
  if (!parsed.success) return refuse(problemText(firstProblem(parsed.error, input)));
  // Field by field: a usual callback carries others too, which are not to be kept.
  const { externalId, status, amount, orderType, currency } = parsed.data;
  if ([status, amount, currency ?? ''].some(looksLikeCardNumber)) return refuse(CARD_FOUND);
  return { callback: { externalId, status, amount, orderType, currency }, problem: '' };
}

/** The signature covers the amount's exact text: should a gateway send a JSON number, its source text is that. */
function parseKeepingAmount(text: string): unknown {
  const input: unknown = JSON.parse(text);
  // Gateways send a string: asking the parser for source texts costs more than all the rest of reading a callback.
  const isNumber = typeof (input as { amount?: unknown } | null)?.amount === 'number';
  return isNumber ? (JSON.parse(text, keepAmountText) as unknown) : input;
}

function keepAmountText(key: string, value: unknown, context?: { source?: string }): unknown {
  return key === 'amount' && typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

/** Identity of a callback's content: body and signature together, each with its length so that nothing can shift. */
function contentHash(delivery: CallbackDelivery): Uint8Array {
  const signatures = delivery.signatures.map((signature) => `\n${signature.length}\n${signature}`);
  const { body } = delivery;
  const all = Buffer.concat([Buffer.from(`${body.byteLength}\n`), body, Buffer.from(signatures.join(''))]);
  return sha256Bytes(all);
}

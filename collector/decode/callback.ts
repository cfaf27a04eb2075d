import { callbackSchema, isUsualCallback, type Callback } from '../../schemas/gateway/callback.ts';
import type { Decoded } from '../../schemas/decoded.ts';
import { isNumberId, parseKeepingSources } from '../../schemas/json.ts';
import type { Coordinates } from '../../schemas/kafka.ts';
import { canonicalId } from '../../schemas/order-id.ts';
import type { CallbackDeliveryRow, EpochMicros, Verdict } from '../../schemas/rows.ts';
import type { Secret } from '../../schemas/secret.ts';
import { isSignatureCause, NO_CAUSE, type SignatureCause } from '../../schemas/signature-causes.ts';
import { readAmount } from './amount.ts';
import {
  currencyCode,
  isKeepableAmount,
  isMasked,
  storedId,
  storedStatus,
  type TextPolicy,
} from './grammar.ts';
import { sha256Bytes } from './ids.ts';
import { sealOf } from './seal.ts';
import { firstProblem, problemText, type Problem } from '../../schemas/problem.ts';
import type { Mismatch } from './signature-cause.ts';
import { verifySignature } from './signature.ts';

/** A callback as it was delivered, with where it came from. */
export interface CallbackDelivery {
  readonly gateway: string;
  /** The request body, byte for byte. */
  readonly body: Uint8Array;
  /**
   * Stands for the body that the sender had, where only a part of it is here. Anybody can write that header,
   * so it can only separate contents that are equal here, never make one of two.
   */
  readonly bodyHash?: string | null;
  /** Whose seal that is (`Seal`); null when nobody says. */
  readonly bodySeal?: number | null;
  /** Every `Signature` header there was. */
  readonly signatures: readonly string[];
  /**
   * What our intake found before it sealed a signature that does not verify. Anybody can write that header:
   * it is a diagnosis, on which nothing depends.
   */
  readonly signatureCause?: string | null;
  /**
   * As rows keep it. Equal for a producer's retry and for a re-read of ours, different for a re-send of the
   * gateway's.
   */
  readonly deliveryId: string;
  readonly receivedAt: EpochMicros;
  readonly source: 'kafka' | 'http';
  readonly coordinates: Coordinates | null;
}

export interface DecodedCallback {
  readonly row: CallbackDeliveryRow;
  readonly verdict: Verdict;
  /**
   * The content, when it could be read and names an order that may be asked for. Trust it only when the
   * verdict says so; even then it is a hint.
   */
  readonly callback: KeptCallback | null;
}

/** A callback with every text as a row keeps it. */
export interface KeptCallback extends Pick<Callback, 'externalId' | 'status' | 'orderType'> {
  readonly amount: string | null;
  readonly currency: string | null;
}

/** What a gateway's callbacks are judged and distinguished with. */
export interface CallbackSecrets {
  readonly keys: readonly Secret[];
  /** Its token: see `Seal`. */
  readonly seal: Secret;
}

/** Why a signature does not verify. It is asked once the verdict stands, and cannot change it. */
export type Examine = (mismatch: Mismatch) => SignatureCause;

const MAX_BODY_BYTES = 262_144;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and verifies one callback (interface document, sections 6.2 and 6.3). Total: any bytes give a row.
 */
export function decodeCallback(
  delivery: CallbackDelivery,
  { keys, seal }: CallbackSecrets,
  policy: TextPolicy,
  examine: Examine = () => 'not_examined',
): DecodedCallback {
  const read = readCallback(delivery.body);
  const sent = read.ok ? read.callback : null;
  const judged = sent === null ? null : judgeSignature(sent, delivery.signatures, keys);
  const verdict = judged?.verdict ?? 'malformed';
  const kept = sent === null ? null : keep(sent, isVerified(verdict), policy);
  const row: CallbackDeliveryRow = {
    gateway: delivery.gateway,
    content_hash: contentHash(delivery),
    delivery_id: delivery.deliveryId,
    received_at: delivery.receivedAt,
    verdict,
    signature_cause: sent !== null && verdict === 'mismatch' ? causeOf(sent, delivery, examine) : NO_CAUSE,
    external_id: kept?.externalId ?? null,
    status: kept?.status ?? null,
    amount: kept?.amount ?? null,
    order_type: kept?.orderType ?? null,
    currency: kept?.currency ?? null,
    // What is wrong comes first: a note says that a field was not kept.
    problem: [read.ok ? '' : problemText(read.problem), judged?.problem ?? '', ...(kept?.notes ?? [])]
      .filter((text) => text !== '')
      .join('; '),
    source: delivery.source,
    topic: delivery.coordinates?.topic ?? '',
    kafka_partition: delivery.coordinates?.partition ?? null,
    kafka_offset: delivery.coordinates?.offset ?? null,
    body_bytes: delivery.body.byteLength,
    ...(isFinal(kept) && isVerified(verdict) ? bodyKey(delivery, seal) : NO_BODY_KEY),
  };
  const callback = kept !== null && isTrueId(sent, kept) ? kept : null;
  return { row, verdict, callback };
}

/** What our intake hands on has a sealed signature: only the intake could examine it. */
function causeOf(callback: Callback, delivery: CallbackDelivery, examine: Examine): SignatureCause {
  const { signatureCause, signatures, body, bodyHash } = delivery;
  if (typeof signatureCause === 'string' && isSignatureCause(signatureCause)) return signatureCause;
  if (typeof bodyHash === 'string') return 'not_examined';
  return examine({ callback, signature: signatures[0] ?? '', body });
}

export const isVerified = (verdict: Verdict): boolean =>
  verdict === 'valid' || verdict === 'valid_previous_key';

/** An order can only be asked for by its true id: what the intake reduced may come as a shape already. */
const isTrueId = (sent: Callback | null, { externalId }: KeptCallback): boolean =>
  sent !== null && canonicalId(sent.externalId) === externalId && !isMasked(externalId);

const PLAIN_AMOUNT = /^-?\d{1,21}(?:\.\d{1,30})?$/;

/** What a row may keep of a callback: each text within its grammar. */
function keep(sent: Callback, isTrusted: boolean, policy: TextPolicy): KeptCallback & { notes: string[] } {
  const keepsCardLikeIds = policy.keepsCardLikeIds && isTrusted;
  const ownId = storedId('external-id', sent.externalId, { ...policy, keepsCardLikeIds });
  const externalId = canonicalId(ownId);
  const status = storedStatus(sent.status, policy.fingerprint);
  const currency = currencyCode(sent.currency);
  const { text, note } = readAmount(sent.amount, currency);
  // What was signed, to the letter, where it is a plain number.
  const amount = PLAIN_AMOUNT.test(sent.amount) && isKeepableAmount(sent.amount) ? sent.amount : text;
  const notes: string[] = [];
  if (ownId !== sent.externalId) notes.push('externalId: not kept, it is no id or looks like a card number');
  if (status !== sent.status) notes.push('status: not kept, expected one word of letters');
  if (amount === null) notes.push('amount: not kept, expected a decimal number such as 100.50');
  if (note === 'rounded' && amount === text) notes.push('amount: rounded to what the store holds');
  const named = sent.currency !== null && sent.currency !== undefined && sent.currency !== '';
  if (currency === null && named) notes.push('currency: not kept, expected a currency code');
  return { externalId, status, amount, orderType: sent.orderType, currency, notes };
}

function judgeSignature(
  callback: Callback,
  signatures: readonly string[],
  keys: readonly Secret[],
): { verdict: Verdict; problem: string } {
  const [signature, ...more] = signatures;
  if (more.length > 0) {
    const problem = `Signature: expected one header, received ${signatures.length}`;
    return { verdict: 'malformed', problem };
  }
  if (signature === undefined || signature.trim() === '') {
    const problem = 'Signature: expected 64 hexadecimal digits, received nothing';
    return { verdict: 'missing_signature', problem };
  }
  const verdict = verifySignature(callback, signature, keys);
  const problem = 'Signature: does not match the content under any configured key';
  return { verdict, problem: verdict === 'mismatch' ? problem : '' };
}

/** A callback that cannot be read is no reject: it is stored with the verdict `malformed`. */
type ReadCallback = Decoded<{ readonly callback: Callback }, unknown>;

const unreadable = (problem: Problem) => ({ ok: false, problem }) as const;

/** The texts as they came, since the signature covers those. */
export function readCallback(body: Uint8Array): ReadCallback {
  const { byteLength } = body;
  if (byteLength === 0) return unreadable({ field: 'body', received: 'nothing', expected: 'JSON' });
  if (byteLength > MAX_BODY_BYTES) {
    const expected = `at most ${MAX_BODY_BYTES} bytes`;
    return unreadable({ field: 'body', received: String(byteLength), expected });
  }
  let input: unknown;
  try {
    input = parseCallback(strictUtf8.decode(body));
  } catch {
    // The parser's message quotes the input, which may hold card data: it is not repeated.
    return unreadable({ field: 'body', received: 'something else', expected: 'JSON in UTF-8' });
  }
  const parsed = isUsualCallback(input)
    ? ({ success: true, data: input } as const)
    : callbackSchema.safeParse(input);
  if (!parsed.success) return unreadable(firstProblem(parsed.error, input));
  // Field by field: a usual callback carries others too, which are not to be kept.
  const { externalId, status, amount, orderType, currency } = parsed.data;
  return { ok: true, callback: { externalId, status, amount, orderType, currency } };
}

/** The signature covers the exact texts of amount and id: a JSON number has one, too. */
function parseCallback(text: string): unknown {
  const input: unknown = JSON.parse(text);
  const { amount, externalId } = (input ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof amount !== 'number' && typeof externalId !== 'number') return input;
  return parseKeepingSources(text, (key, source) => key === 'amount' || isNumberId(key, source));
}

/**
 * Identity of a callback's content: body and signatures, each with its length so that nothing can shift, and
 * the whole body's hash.
 */
function contentHash(delivery: CallbackDelivery): Uint8Array {
  const signatures = delivery.signatures.map((signature) => `\n${signature.length}\n${signature}`);
  const { body, bodyHash } = delivery;
  const whole = typeof bodyHash === 'string' ? `\nbody ${bodyHash}` : '';
  const rest = Buffer.from(signatures.join('') + whole);
  const all = Buffer.concat([Buffer.from(`${body.byteLength}\n`), body, rest]);
  return sha256Bytes(all);
}

type BodyKey = Pick<CallbackDeliveryRow, 'body_seal' | 'body_key'>;

const NO_BODY_KEY: BodyKey = { body_seal: 0, body_key: 0 };

/** Before the end, what is not signed grows with the payer's steps: only final bodies are compared. */
const isFinal = (kept: KeptCallback | null): boolean =>
  kept?.status === 'Success' || kept?.status === 'Failed';

/**
 * What two deliveries of one body have in common whatever way they came: the whole body's seal, made here or
 * by the intake that handed on a part of it.
 */
function bodyKey({ body, bodyHash, bodySeal }: CallbackDelivery, token: Secret): BodyKey {
  const isWhole = typeof bodyHash !== 'string';
  const seal = sealOf(token);
  const id = isWhole ? seal.id : (bodySeal ?? 0);
  if (id === 0) return NO_BODY_KEY;
  return { body_seal: id, body_key: Number.parseInt((isWhole ? seal.of(body) : bodyHash).slice(0, 8), 16) };
}

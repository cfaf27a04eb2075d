import type { CallbackType, FullCallback } from '../schemas/gateway/callback.ts';
import { Secret } from '../schemas/secret.ts';
import type { Agenda } from './agenda.ts';
import { FAULTS, type ActiveFault, type FaultBoard, type FaultName } from './faults.ts';
import type { SandboxConfig } from './options.ts';
import type { Order } from './orders.ts';
import { createRandom } from './random.ts';
import { amountAt, callbackBody, otherCurrency, statusAt } from './reply.ts';
import type { Sender } from './sender.ts';
import { sign, SIGNINGS, type SigningName } from './signing.ts';
import { count, type SandboxStats } from './stats.ts';

/** The status that a callback type reports (section 3); a changed amount has the status of the moment. */
const STATUS_OF: Readonly<Record<CallbackType, string | null>> = {
  Create: 'Created',
  Progress: 'Processing',
  Success: 'Success',
  Failed: 'Failed',
  AmountChanged: null,
};

export interface Callbacks {
  /** Sends each callback when its time has come. */
  plan(order: Order, callbacks: readonly { readonly type: CallbackType; readonly atMs: number }[]): void;
  /** Sends one now, faults and the merchant's choice of types left aside. */
  sendNow(order: Order, options?: CallbackOptions): boolean;
}

export interface CallbackOptions {
  /** @default that of the order's status */
  readonly status?: string;
  /** @default 'valid' */
  readonly signature?: SentSignature;
  /** @default 1 */
  readonly times?: number;
  /** @default the order's address, else the static one */
  readonly url?: string;
  /** Another amount than that of the order, signed. */
  readonly amount?: string;
  /** Another currency; no signature covers it. */
  readonly currency?: string;
  /** Another card holder; no signature covers it. */
  readonly cardHolder?: string;
}

/** Right, with another key, none, or by other rules than those of section 6.3. */
export type SentSignature = 'valid' | 'wrong' | 'missing' | SigningName;

const WRONG_KEY = new Secret('not-the-key-of-this-merchant');

/** What faults make of a callback; null: it is not sent at all. */
export function bendCallback(faults: readonly Pick<ActiveFault, 'name' | 'delayMs' | 'signing'>[]): {
  readonly signature: SentSignature;
  readonly times: number;
  readonly delayMs: number;
  readonly otherAmount?: true;
  readonly otherCurrency?: true;
  /** Sent a second time with the other final status. */
  readonly otherStatus?: true;
  /** Sent a second time with another body under the same signature. */
  readonly rewritten?: true;
  /** Sent again, so much later. */
  readonly againAfterMs?: number;
} | null {
  const find = (name: FaultName) => faults.find((fault) => fault.name === name);
  if (find('callback_missing')) return null;
  const delayed = find('callback_delayed');
  const replayed = find('callback_replayed');
  const otherwise = find('callback_signed_otherwise');
  const otherSigning = otherwise === undefined ? 'valid' : (otherwise.signing ?? 'amount_without_zeros');
  const wrong = find('callback_wrong_signature') ? 'wrong' : otherSigning;
  return {
    ...(find('callback_other_amount') ? { otherAmount: true } : {}),
    ...(find('callback_other_currency') ? { otherCurrency: true } : {}),
    ...(find('callback_other_status') ? { otherStatus: true } : {}),
    ...(find('callback_rewritten') ? { rewritten: true } : {}),
    ...(replayed === undefined ? {} : { againAfterMs: replayed.delayMs ?? 7_200_000 }),
    signature: find('callback_missing_signature') ? 'missing' : wrong,
    times: find('callback_duplicate') ? 2 : 1,
    delayMs: delayed === undefined ? 0 : (delayed.delayMs ?? 10_000),
  };
}

interface CallbackParts {
  readonly config: SandboxConfig;
  readonly agenda: Agenda;
  readonly faults: FaultBoard;
  readonly sender: Sender;
  readonly stats: SandboxStats;
}

export function createCallbacks(parts: CallbackParts): Callbacks {
  return {
    plan(order, callbacks) {
      // One entry an order: the next callback is put on the agenda when the one before it has fired.
      const next = (i: number) => {
        const callback = callbacks[i];
        if (!callback) return;
        parts.agenda.at(callback.atMs, () => {
          fire(order, callback.type, parts);
          next(i + 1);
        });
      };
      next(0);
    },
    sendNow(order, options = {}) {
      const send = write(order, options, parts);
      send?.();
      return send !== null;
    },
  };
}

/** Writes the callback as the order is now. Gives back how to send it; null when there is no address. */
function write(
  order: Order,
  options: CallbackOptions,
  { config, sender, stats }: CallbackParts,
): (() => void) | null {
  const url = options.url ?? order.callbackUrl ?? config.callbackUrl;
  if (url === null) return null;
  const nowMs = config.clock.now();
  const own = callbackBody(order, nowMs, options.status ?? statusAt(order, nowMs));
  const {
    amount = own.amount,
    currency = own.currency,
    cardHolder = own.externalParams.cardHolder,
    signature = 'valid',
  } = options;
  const body = { ...own, amount, currency, externalParams: { ...own.externalParams, cardHolder } };
  const headers: Record<string, string> =
    signature === 'missing' ? {} : { Signature: signatureOf(body, signature, config) };
  const delivery = { url, headers, body: JSON.stringify(body) };
  return () => {
    for (let i = 0; i < (options.times ?? 1); i++) {
      stats.callbacks.queued++;
      sender.send(delivery);
    }
  };
}

function signatureOf(
  body: FullCallback,
  signature: Exclude<SentSignature, 'missing'>,
  { callbackKey: key, endpoints }: SandboxConfig,
): string {
  if (signature === 'valid' || signature === 'wrong')
    return sign(body, signature === 'wrong' ? WRONG_KEY : key);
  return SIGNINGS[signature]({ body, key, token: endpoints[0]?.token ?? key });
}

/** Sends a planned callback, unless the merchant did not ask for its type or a fault keeps it back. */
function fire(order: Order, type: CallbackType, parts: CallbackParts): void {
  const { config, agenda, faults, stats } = parts;
  if (!order.callbackTypes.includes(type) || (order.callbackUrl ?? config.callbackUrl) === null) {
    stats.callbacks.notWanted++;
    return;
  }
  count(stats.callbacks.byType, type);
  const struck = faults.drawAll('callback', { orderType: order.orderType, channel: order.channel });
  for (const fault of struck) count(stats.faults, fault.name);
  const lasting = lastingFaults(order, type);
  const note = (): void => {
    for (const { name } of lasting) order.deeds.push({ fault: name, on: type, atMs: config.clock.now() });
  };
  const bent = bendCallback([...lasting, ...struck]);
  if (bent?.againAfterMs === undefined) note();
  if (bent === null) {
    stats.callbacks.dropped++;
    return;
  }
  const { signature, times, delayMs, againAfterMs } = bent;
  const status = STATUS_OF[type];
  const how: CallbackOptions = {
    ...(status === null ? {} : { status }),
    ...(bent.otherAmount ? { amount: (amountAt(order, config.clock.now()) / 100 + 1).toFixed(2) } : {}),
    ...(bent.otherCurrency ? { currency: otherCurrency(order) } : {}),
    signature,
    times,
  };
  const sends = [write(order, how, parts)];
  const other = status === null ? undefined : OTHER_FINAL[status];
  if (bent.otherStatus && other !== undefined) sends.push(write(order, { ...how, status: other }, parts));
  if (bent.rewritten) sends.push(write(order, { ...how, cardHolder: 'ANOTHER HOLDER' }, parts));
  const send = (): void => sends.forEach((one) => one?.());
  if (againAfterMs !== undefined)
    agenda.at(config.clock.now() + delayMs + againAfterMs, () => {
      note();
      send();
    });
  if (delayMs === 0) return send();
  const random = createRandom(config.seed, 'callback delay', order.sequence, type);
  agenda.at(config.clock.now() + random.between(0, delayMs), send);
}

/** The final statuses, and what a callback says that contradicts one. */
const OTHER_FINAL: Readonly<Record<string, string>> = { Success: 'Failed', Failed: 'Success' };

/** Faults of the order's contradiction; they strike callbacks of a final status alone. */
function lastingFaults(
  { contradiction }: Order,
  type: CallbackType,
): { readonly name: FaultName; readonly delayMs?: number }[] {
  if (contradiction === null || OTHER_FINAL[type] === undefined) return [];
  const { faults, delayMs } = contradiction;
  return faults
    .filter((name) => FAULTS[name].kind === 'callback')
    .map((name) => ({ name, ...(delayMs === undefined ? {} : { delayMs }) }));
}

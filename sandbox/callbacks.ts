import type { CallbackType } from '../schemas/gateway/callback.ts';
import { Secret } from '../schemas/secret.ts';
import type { Agenda } from './agenda.ts';
import type { FaultBoard } from './faults.ts';
import type { SandboxConfig } from './options.ts';
import type { Order } from './orders.ts';
import { createRandom } from './random.ts';
import { callbackBody, sign, statusAt } from './reply.ts';
import type { Sender } from './sender.ts';
import { count, type SandboxStats } from './stats.ts';

/** The status a callback type tells of (section 3); a changed amount comes with the status of the moment. */
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
  readonly signature?: 'valid' | 'wrong' | 'missing';
  /** @default 1 */
  readonly times?: number;
  /** @default the order's address, else the static one */
  readonly url?: string;
}

const WRONG_KEY = new Secret('not-the-key-of-this-merchant');

export function createCallbacks(parts: {
  config: SandboxConfig;
  agenda: Agenda;
  faults: FaultBoard;
  sender: Sender;
  stats: SandboxStats;
}): Callbacks {
  const { config, agenda, faults, sender, stats } = parts;
  const now = () => config.clock.now();

  /** Writes the callback as the order is now. Gives back how to send it; null when there is no address. */
  const write = (order: Order, options: CallbackOptions): (() => void) | null => {
    const url = options.url ?? order.callbackUrl ?? config.callbackUrl;
    if (url === null) return null;
    const body = callbackBody(order, now(), options.status ?? statusAt(order, now()));
    const signature = sign(body, options.signature === 'wrong' ? WRONG_KEY : config.callbackKey);
    const headers: Record<string, string> = options.signature === 'missing' ? {} : { Signature: signature };
    const delivery = { url, headers, body: JSON.stringify(body) };
    return () => {
      for (let i = 0; i < (options.times ?? 1); i++) {
        stats.callbacks.queued++;
        sender.send(delivery);
      }
    };
  };

  const fire = (order: Order, type: CallbackType) => {
    if (!order.callbackTypes.includes(type) || (order.callbackUrl ?? config.callbackUrl) === null) {
      stats.callbacks.notWanted++;
      return;
    }
    count(stats.callbacks.byType, type);
    const struck = faults.drawAll('callback', { orderType: order.orderType, channel: order.channel });
    for (const fault of struck) count(stats.faults, fault.name);
    const has = (name: string) => struck.some((fault) => fault.name === name);
    if (has('callback_missing')) {
      stats.callbacks.dropped++;
      return;
    }
    const status = STATUS_OF[type];
    const send = write(order, {
      ...(status === null ? {} : { status }),
      signature: has('callback_missing_signature')
        ? 'missing'
        : has('callback_wrong_signature')
          ? 'wrong'
          : 'valid',
      times: has('callback_duplicate') ? 2 : 1,
    });
    const delayed = struck.find((fault) => fault.name === 'callback_delayed');
    if (!send) return;
    if (!delayed) return send();
    const wait = createRandom(config.seed, 'callback delay', order.sequence, type).between(
      0,
      delayed.delayMs ?? 10_000,
    );
    agenda.at(now() + wait, send);
  };

  return {
    plan(order, callbacks) {
      // One entry an order: the next callback is put on the agenda when the one before it has fired.
      const next = (i: number) => {
        const callback = callbacks[i];
        if (!callback) return;
        agenda.at(callback.atMs, () => {
          fire(order, callback.type);
          next(i + 1);
        });
      };
      next(0);
    },
    sendNow(order, options = {}) {
      const send = write(order, options);
      send?.();
      return send !== null;
    },
  };
}

import { CALLBACK_TYPES } from '../schemas/gateway/callback.ts';
import { drawAmount } from './life.ts';
import type { OrderDesk } from './open-order.ts';
import type { Order, OrderStore } from './orders.ts';
import { drawPayer } from './payers.ts';
import { createRandom } from './random.ts';

export interface WithdrawalRequest {
  /** @default drawn by the seed */
  readonly amount?: number;
  /** @default 'EUR' */
  readonly currency?: string;
  /** @default made up */
  readonly externalTransactionId?: string;
  readonly callbackUrl?: string;
}

/**
 * Payouts come into being by the admin API or the sandbox's traffic: the interface shows no payout creation
 * (4.6).
 */
export interface Withdrawals {
  create(request: WithdrawalRequest): Order | 'exists' | 'full';
}

export function createWithdrawals(parts: { seed: string; desk: OrderDesk; orders: OrderStore }): Withdrawals {
  return {
    create(request) {
      const random = createRandom(parts.seed, 'payout', parts.desk.nextSequence);
      const externalTransactionId = request.externalTransactionId ?? `payout-${random.hex(12)}`;
      if (parts.orders.byTransactionId('Withdrawal', externalTransactionId)) return 'exists';
      const order = parts.desk.open({
        orderType: 'Withdrawal',
        channel: 'payout',
        amountMinor: request.amount === undefined ? drawAmount(random) : Math.round(request.amount * 100),
        currency: request.currency ?? 'EUR',
        externalTransactionId,
        callbackUrl: request.callbackUrl ?? null,
        callbackTypes: CALLBACK_TYPES,
        timeDigits: 3,
        payer: drawPayer(random),
      });
      return order ?? 'full';
    },
  };
}

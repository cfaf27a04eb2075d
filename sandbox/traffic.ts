import type { Agenda } from './agenda.ts';
import type { CreateBase, CreateDeposit } from './create-deposit.ts';
import type { IncidentBoard } from './incidents.ts';
import { planGapMs, planRequest, type PlannedRequest } from './life.ts';
import type { MerchantEndpoint, SandboxConfig } from './options.ts';
import { createRandom } from './random.ts';
import type { Vault } from './vault.ts';
import type { Withdrawals } from './withdrawals.ts';

/**
 * The sandbox's own traffic: orders that arrive by themselves, through the same path as a merchant's POST.
 */
export interface Traffic {
  /** Orders per second from now on; 0 stops. */
  setRate(ratePerSecond: number): void;
  readonly ratePerSecond: number;
}

/** Orders made up for at most, after a pause of the process. */
const MAX_ARREARS_MS = 1000;

export function createTraffic(parts: {
  config: SandboxConfig;
  agenda: Agenda;
  incidents: IncidentBoard;
  vault: Vault;
  createDeposit: CreateDeposit;
  withdrawals: Withdrawals;
}): Traffic {
  const { config, agenda, incidents } = parts;
  let rate = 0;
  let number = 0;
  let epoch = 0;

  const arrive = () => {
    const index = number++;
    const request = planRequest(config.seed, index, config.mix);
    const dropped = createRandom(config.seed, 'drop', index).next() >= incidents.trafficFactor();
    if (!dropped) place(parts, request, index);
  };
  const schedule = (fromMs: number, current: number) => {
    const dueMs =
      Math.max(fromMs, config.clock.now() - MAX_ARREARS_MS) + planGapMs(config.seed, number, rate);
    agenda.at(dueMs, () => {
      if (current !== epoch) return;
      arrive();
      schedule(dueMs, current);
    });
  };
  return {
    setRate(ratePerSecond) {
      rate = ratePerSecond;
      epoch++;
      if (rate > 0) schedule(config.clock.now(), epoch);
    },
    get ratePerSecond() {
      return rate;
    },
  };
}

function place(parts: Parameters<typeof createTraffic>[0], request: PlannedRequest, index: number): void {
  const { channel, amountMinor, currency, externalTransactionId } = request;
  if (channel === 'payout') {
    parts.withdrawals.create({ amount: amountMinor / 100, currency, externalTransactionId });
    return;
  }
  const base: CreateBase = channel === 'token' ? 'token' : channel === 'card' ? 'payform' : 'secure';
  const endpoint = parts.config.endpoints.find((candidate) => serves(candidate, channel));
  if (!endpoint) return;
  const random = createRandom(parts.config.seed, 'fields', index);
  const additionalFields: { key: string; value: string }[] = [];
  if (channel === 'token') {
    additionalFields.push({ key: 'cardStorageToken', value: random.pick(parts.vault.returning).token });
  }
  if (channel === 'card') {
    additionalFields.push(
      { key: 'type', value: 'card' },
      { key: 'cardNumber', value: `411111${random.digits(10)}` },
      { key: 'cardHolder', value: 'SANDBOX PAYER' },
      { key: 'cardCvv', value: random.digits(3) },
      { key: 'cardExpireMonth', value: '12' },
      { key: 'cardExpireYear', value: '39' },
    );
  }
  parts.createDeposit(endpoint, base, {
    amount: amountMinor / 100,
    currency,
    externalTransactionId,
    additionalFields,
  });
}

function serves(endpoint: MerchantEndpoint, channel: PlannedRequest['channel']): boolean {
  if (channel === 'token') return endpoint.tokenMethod;
  return channel === 'card' ? endpoint.pci : endpoint.secure === channel;
}

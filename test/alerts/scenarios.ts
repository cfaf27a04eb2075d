import { dateTime64, type Seed, type SeedOrder } from '../support/seed-store.ts';
import {
  BAD_PROVIDER_SIGNATURE,
  callbacks,
  MINUTE,
  NOW,
  PAID,
  REFUSED,
  TIMED_OUT,
  traffic,
} from './traffic.ts';

/** For each rule over orders: how an order looks that it counts as affected, and one that it does not. */
export interface Scenario {
  readonly rule: string;
  /** Fewest affected orders that are an incident. @default 6 */
  readonly minimum?: number;
  /** Seed of a gateway with `affected` and `fine` orders, the last one at `until`. */
  readonly seed: (gateway: string, affected: number, fine: number, until: number) => Seed;
  /** Does not stand still when the gateway is blind. */
  readonly own?: true;
  /** Labels of the instance that fires, besides the gateway. */
  readonly labels?: Readonly<Record<string, string>>;
}

const SPAN = 4 * MINUTE;

const orders = (
  gateway: string,
  count: number,
  until: number,
  codes: readonly string[],
  tag: string,
): SeedOrder[] =>
  traffic({
    gateway: gateway,
    orders: count,
    from: until - SPAN,
    to: until - 20_000,
    codes: () => codes,
  }).map((order) => ({ ...order, externalId: `${order.externalId}-${tag}` }));
const byCodes =
  (bad: readonly string[], good: readonly string[] = PAID) =>
  (gateway: string, affected: number, fine: number, until: number): Seed => ({
    orders: [...orders(gateway, affected, until, bad, 'bad'), ...orders(gateway, fine, until, good, 'good')],
  });
/** Judged some time after they happened. */
const after =
  (ms: number, seed: Scenario['seed']): Scenario['seed'] =>
  (gateway, affected, fine, until) =>
    seed(gateway, affected, fine, until - ms);

const polls = (
  gateway: string,
  count: number,
  until: number,
  outcome: string,
  tag: string,
  durationMs = 100,
): object[] =>
  Array.from({ length: count }, (_, n) => ({
    gateway,
    started_at: dateTime64(until - SPAN + Math.floor(((SPAN - 20_000) * n) / count)),
    poll_id: `${tag}-${n}`,
    endpoint: 'status',
    order_type: 'Deposit',
    order_id: `${gateway}-${tag}-${n}`,
    id_kind: 'external-id',
    outcome,
    error_type: outcome === 'ok' ? '' : 'timeout',
    duration_ms: durationMs,
  }));
const byPolls =
  (outcome: string, durationMs?: number) =>
  (gateway: string, affected: number, fine: number, until: number): Seed => ({
    rows: {
      polls: [
        ...polls(gateway, affected, until, outcome, 'bad', durationMs),
        ...polls(gateway, fine, until, 'ok', 'good'),
      ],
    },
  });
const byVerdict =
  (verdict: 'mismatch' | 'valid_previous_key') =>
  (gateway: string, affected: number, fine: number, until: number): Seed => ({
    callbacks: [
      ...callbacks(gateway, affected, verdict, until - 3 * MINUTE),
      ...callbacks(gateway, fine, 'valid', until - 3 * MINUTE),
    ],
  });

const SUBMITTED = ['1.0.0.00', '2.1.1.00', '3.0.1.00', '3.1.1.55'];
const UNCONFIRMED = PAID.slice(0, -1);
/** A second a code: more than a quarter of a minute after the submit. */
const WAITED = [...SUBMITTED, ...Array.from({ length: 16 }, () => '4.2.2.13')];
const SLOWLY_PAID = [...WAITED, '4.1.3.00'];
const GIVEN_UP = [...WAITED, '3.0.4.54'];

export const SCENARIOS: readonly Scenario[] = [
  {
    rule: 'GatewatchTechTimeouts',
    minimum: 5,
    seed: byCodes(TIMED_OUT),
    labels: { stage: 'GATEWAY_CREATE' },
  },
  {
    rule: 'GatewatchProviderUnreachable',
    minimum: 5,
    seed: byCodes(['1.0.0.00', '1.1.1.00', '2.2.4.12']),
    labels: { stage: 'GATEWAY_CREATE' },
  },
  {
    rule: 'GatewatchRequestsRepeated',
    minimum: 8,
    seed: byCodes([...SUBMITTED, '4.2.2.13', '4.1.3.00']),
    labels: { stage: 'CHECK' },
  },
  { rule: 'GatewatchGatewayUnreachable', seed: byPolls('unknown'), own: true },
  { rule: 'GatewatchAuthzFailures', minimum: 4, seed: byCodes(REFUSED), labels: { stage: 'GATEWAY_CREATE' } },
  {
    rule: 'GatewatchAccessRefused',
    minimum: 3,
    seed: byPolls('unauthorized'),
    own: true,
    labels: { reason: '401' },
  },
  {
    rule: 'GatewatchOrdersNotFound',
    seed: (gateway, affected, fine, until) =>
      byPolls('not_found')(gateway, affected, Math.floor(fine / 20), until),
    own: true,
  },
  { rule: 'GatewatchSignatureMismatches', minimum: 4, seed: byCodes(BAD_PROVIDER_SIGNATURE) },
  {
    rule: 'GatewatchCallbackKeyBroken',
    minimum: 5,
    seed: (gateway, affected, fine, until) =>
      byVerdict('mismatch')(gateway, affected, Math.floor(fine / 20), until),
    own: true,
  },
  {
    rule: 'GatewatchForgedCallbacks',
    minimum: 3,
    seed: (gateway, affected, fine, until) =>
      byVerdict('mismatch')(gateway, affected, fine + affected, until),
    own: true,
  },
  { rule: 'GatewatchPreviousKeyInUse', minimum: 3, seed: byVerdict('valid_previous_key'), own: true },
  {
    rule: 'GatewatchContractBroken',
    minimum: 4,
    seed: byCodes(['1.0.0.00', '2.2.4.14']),
    labels: { stage: 'GATEWAY_CREATE' },
  },
  {
    rule: 'GatewatchBalanceExhausted',
    minimum: 5,
    seed: byCodes(['1.0.0.00', '1.2.4.31']),
    labels: { stage: 'INTERNAL' },
  },
  {
    rule: 'GatewatchBusinessRefusals',
    minimum: 5,
    seed: byCodes(['1.0.0.00', '2.2.4.32']),
    labels: { reason: 'LIMIT' },
  },
  { rule: 'GatewatchAmountChanged', seed: byCodes(['1.0.0.00', '2.1.1.00', '5.1.3.35']) },
  { rule: 'GatewatchAntifraudSpike', seed: byCodes(['1.0.0.00', '2.1.1.00', '4.1.4.41']) },
  {
    rule: 'GatewatchPayformDropOff',
    seed: byCodes(['1.0.0.00', '3.0.1.00', '3.2.4.56'], SUBMITTED),
    labels: { reason: '3DS_FAILED' },
  },
  {
    rule: 'GatewatchIssuerDeclines',
    seed: byCodes(['1.0.0.00', '2.1.1.00', '4.1.4.63']),
    labels: { reason: 'INSUFFICIENT_FUNDS' },
  },
  { rule: 'GatewatchUnknownCodes', minimum: 4, seed: byCodes(['1.0.0.00', '2.1.1.77']) },
  { rule: 'GatewatchTechnicalBurnFast', minimum: 10, seed: byCodes(TIMED_OUT) },
  { rule: 'GatewatchTechnicalBurnSlow', minimum: 20, seed: byCodes(TIMED_OUT) },
  { rule: 'GatewatchApprovalDrop', minimum: 8, seed: byCodes(['1.0.0.00', '2.1.1.00', '4.1.4.00']) },
  { rule: 'GatewatchStuckProcessing', minimum: 5, seed: after(30 * MINUTE, byCodes(SUBMITTED)) },
  {
    rule: 'GatewatchMerchantCallbackMissing',
    minimum: 5,
    seed: after(10 * MINUTE, withCallbacksOn(byCodes(UNCONFIRMED))),
    labels: { state: 'SUCCESS' },
  },
  { rule: 'GatewatchSuccessAfterFailed', minimum: 1, seed: byCodes(['1.0.0.00', '2.2.4.11', '4.1.3.00']) },
  {
    rule: 'GatewatchSlow',
    minimum: 8,
    seed: withThreshold(byCodes(SLOWLY_PAID)),
    labels: { slower_than: '15 s' },
  },
  {
    rule: 'GatewatchPayersGiveUp',
    minimum: 8,
    seed: withThreshold(byCodes(GIVEN_UP, SLOWLY_PAID)),
    labels: { slower_than: '15 s' },
  },
  { rule: 'GatewatchReadsSlow', seed: byPolls('ok', 6_000), own: true },
  { rule: 'GatewatchRereadCoverage', seed: after(15 * MINUTE, reread), own: true },
];

function withCallbacksOn(seed: Scenario['seed']): Scenario['seed'] {
  return (gateway, ...rest) => ({
    ...seed(gateway, ...rest),
    rows: {
      alertSettings: ['SUCCESS', 'FAILED'].map((state) => ({
        gateway,
        rule: 'GatewatchMerchantCallbackMissing',
        setting: `enabled/${state}`,
        value: 1,
        configured_at: dateTime64(NOW - 60 * MINUTE),
      })),
    },
  });
}

/** Nothing is usual at the gateway: the settings say what is slow. */
function withThreshold(seed: Scenario['seed']): Scenario['seed'] {
  const settings = [
    { rule: 'GatewatchSlow', setting: 'slowerThanSeconds', value: 15 },
    { rule: 'GatewatchSlow', setting: 'shareAbove', value: 0.3 },
    { rule: 'GatewatchPayersGiveUp', setting: 'shareAbove', value: 0.3 },
  ];
  return (gateway, ...rest) => ({
    ...seed(gateway, ...rest),
    rows: {
      alertSettings: settings.map((one) => ({
        gateway,
        ...one,
        configured_at: dateTime64(NOW - 60 * MINUTE),
      })),
    },
  });
}

/** The fine ones are read again ten minutes later. */
function reread(gateway: string, affected: number, fine: number, until: number): Seed {
  const seed = byCodes(PAID)(gateway, affected, fine, until);
  const read = (seed.orders ?? []).filter(({ externalId }) => externalId.endsWith('good'));
  return {
    ...seed,
    rows: {
      polls: read.map(({ externalId }, n) => ({
        gateway,
        started_at: dateTime64(until + 10 * MINUTE),
        poll_id: `again-${n}`,
        endpoint: 'status',
        order_type: 'Deposit',
        order_id: externalId,
        id_kind: 'external-id',
        outcome: 'ok',
      })),
    },
  };
}

export function merge(seeds: readonly Seed[]): Seed {
  const all = <T>(pick: (seed: Seed) => readonly T[] | undefined): T[] =>
    seeds.flatMap((seed) => pick(seed) ?? []);
  return {
    orders: all((seed) => seed.orders),
    callbacks: all((seed) => seed.callbacks),
    gatewayStatus: all((seed) => seed.gatewayStatus),
    rows: mergedRows(seeds),
  };
}

/** The rows of all seeds, by table. */
function mergedRows(seeds: readonly Seed[]): NonNullable<Seed['rows']> {
  const tables = seeds.flatMap(({ rows = {} }) => Object.entries(rows));
  return Object.fromEntries(
    [...Map.groupBy(tables, ([table]) => table)].map(([table, some]) => [
      table,
      some.flatMap(([, rows]) => rows),
    ]),
  );
}

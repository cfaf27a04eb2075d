import type { TableResult } from '../../store/store.ts';
import type { PollOutcome } from '../../schemas/rows.ts';
import type { VariableValues } from '../../store/macros.ts';
import { expandPanelSql } from '../support/macros.ts';
import {
  type Seed,
  type SeedCallback,
  type SeedItem,
  type SeededStore,
  type SeedOrder,
  type SeedPoll,
  type SeedReply,
  startSeededStore,
} from '../support/seed-store.ts';
import { evaluatedMinutes, evaluationRow, settingRows, stateRow } from './evaluations.ts';
import { panelNamed } from './generated.ts';
import { MINUTE, randomOrders, type Scope } from './traffic.ts';

/** A store with traffic that the tests know, and the panels' own queries on it. */

// Panels ask what is known by now, so the seed hangs on the clock; its newest items are older than the
// windows' lag.
export const TO = Math.floor(Date.now() / MINUTE) * MINUTE - 5 * MINUTE;
export const FROM = TO - 180 * MINUTE;
export const WEEK = 7 * 86_400_000;
/**
 * The second gateway went blind forty minutes before the end; what was seen of it afterwards is not complete.
 */
export const BLIND_AT = TO - 40 * MINUTE - 12_345;
const windowEnd = (gateway: string): number => (gateway === 'blind-pay' ? BLIND_AT : TO);
export const scope: Scope = { from: FROM, end: windowEnd };
export const lastWeek: Scope = {
  from: FROM - WEEK,
  end: (gateway) => Math.min(TO, windowEnd(gateway)) - WEEK,
};

export const orders: readonly SeedOrder[] = [
  ...randomOrders(20_260_302, 1_100, FROM - 30 * MINUTE, TO - MINUTE),
  ...randomOrders(77, 400, FROM - WEEK - 30 * MINUTE, TO - WEEK - MINUTE),
];
const recent = orders.slice(0, 1_100);

export const callbacks: readonly SeedCallback[] = recent.slice(0, 60).map((order, n) => ({
  gateway: order.gateway,
  externalId: order.externalId,
  receivedAt: FROM - 5 * MINUTE + n * 3 * MINUTE,
  content: 'first',
  verdict: n % 5 === 0 ? 'mismatch' : 'valid',
}));

const POLLED: readonly PollOutcome[] = ['ok', 'ok', 'ok', 'unknown', 'unauthorized'];
export const polls: readonly SeedPoll[] = recent.slice(0, 300).flatMap((order, n) =>
  [2, 9].map((second, k) => ({
    gateway: order.gateway,
    orderId: order.externalId,
    orderType: order.orderType ?? 'Deposit',
    startedAt: (order.items[0]?.at ?? 0) + second * 1000,
    outcome: POLLED[(n + k) % POLLED.length] ?? 'ok',
    durationMs: 20 + ((n * 37 + k) % 900),
    latenessMs: (n * 13 + k) % 700,
  })),
);

export const replies: readonly SeedReply[] = recent.slice(0, 50).map((order) => ({
  gateway: order.gateway,
  externalId: order.externalId,
  orderType: order.orderType ?? 'Deposit',
  observedAt: (order.items.at(-1)?.at ?? 0) + 3000,
  status: 'Success',
  outcome: 'succeeded',
  amount: '12.5',
  currency: 'EUR',
}));

const REPORT_TIMES = Array.from({ length: 18 }, (_, n) => TO - n * 10 * MINUTE - MINUTE);
export const reports = REPORT_TIMES.flatMap((reportedAt, n) => [
  {
    gateway: 'acme-eu',
    reportedAt,
    watermarkAt: reportedAt - 700,
    watchedOrders: 90 + n,
    dueOrders: n,
    requestsPerSecond: 2 + n,
    requestsPerSecondLimit: 20,
    requestsInFlight: n % 5,
    concurrencyLimit: 4,
  },
  {
    gateway: 'blind-pay',
    reportedAt,
    watermarkAt: Math.min(reportedAt - 900, BLIND_AT),
    watchedOrders: 10,
    dueOrders: 3,
  },
]);
/** One collector, started anew an hour before the end: its counter begins again. */
export const RESTARTED_AT = TO - 60 * MINUTE;
export const collectors = REPORT_TIMES.map((reportedAt, n) => ({
  collectorId: 'collector-1',
  reportedAt,
  startedAt: reportedAt < RESTARTED_AT ? FROM - WEEK : RESTARTED_AT,
  consumerLag: n,
  duplicatesTotal:
    5 * Math.round((reportedAt - (reportedAt < RESTARTED_AT ? FROM - WEEK : RESTARTED_AT)) / MINUTE),
}));

/** What the rules saw, minute by minute, and one alert that they made. */
export const evaluations = evaluatedMinutes(['acme-eu', 'blind-pay'], FROM, TO);

export const seed = (): Seed => ({
  orders,
  callbacks,
  polls,
  replies,
  gatewayStatus: [
    ...reports,
    { gateway: 'acme-eu', reportedAt: Date.now() - 1000, watermarkAt: Date.now() - 1000 },
    { gateway: 'blind-pay', reportedAt: Date.now() - 1000, watermarkAt: BLIND_AT },
  ],
  rejects: [{ gateway: 'acme-eu', reason: 'reply_truncated', rejectedAt: TO - 10 * MINUTE }],
  collectors,
  annotations: [{ gateway: '', title: 'release 1', startsAt: TO - 30 * MINUTE }],
  rows: {
    alertEvaluations: evaluations.map(evaluationRow),
    alertStates: [
      stateRow({
        rule: 'GatewatchTechTimeouts',
        labels: { gateway: 'acme-eu', stage: 'CHECK' },
        state: 'Alerting',
        changedAt: TO - 20 * MINUTE,
        firingSince: TO - 20 * MINUTE,
        evaluatedAt: TO - MINUTE,
      }),
    ],
    alertSettings: settingRows('acme-eu', FROM - WEEK, {
      'GatewatchMerchantCallbackMissing/enabled/SUCCESS': 1,
    }),
  },
});

const seenLater = (item: SeedItem): SeedItem =>
  Object.assign({}, item, { observedAt: (item.observedAt ?? item.at) + MINUTE });

/** Everything arrives again, as after a restart: what is known already, and later. */
export const seenAgain: Seed = {
  orders: orders.map((order) => Object.assign({}, order, { items: order.items.map(seenLater) })),
  callbacks: callbacks.map((callback) =>
    Object.assign({}, callback, { receivedAt: callback.receivedAt + 20 * MINUTE }),
  ),
  polls,
  replies,
  gatewayStatus: reports,
  collectors,
  // A second evaluator, which comes later and sees other things.
  rows: {
    alertEvaluations: evaluations.map((one) =>
      evaluationRow({
        ...one,
        affected: 1,
        limit: 1,
        evaluatedAt: one.asOf + 9000,
        evaluator: 'collector-2',
      }),
    ),
  },
};

export interface Seeded {
  readonly store: SeededStore;
  readonly run: (sql: string, variables?: VariableValues, intervalMs?: number) => Promise<TableResult>;
  /** Rows of a panel, a bucket a minute. */
  readonly runPanel: (title: string, variables?: VariableValues) => Promise<TableResult['data']>;
}

/** One contradiction, judged twice where rows come twice. */
const FINDING = `INSERT INTO gatewatch.findings_store SELECT '${orders[0]?.gateway ?? ''}', 'Deposit', '${orders[0]?.externalId ?? ''}', 'STATUS_DISAGREES', 'reply', fromUnixTimestamp64Milli(${TO - 60 * MINUTE}), 'gateway', 'Success', 'Failed', [], NULL, now64(6)`;

/**
 * @param sown what the store holds, in the order of arrival. @default the seed, and all of it again
 */
export async function startSeeded(sown: readonly Seed[] = [seed(), seenAgain]): Promise<Seeded> {
  const store = await startSeededStore();
  for (const part of sown) {
    await store.seed(part);
    await store.command(FINDING);
  }
  const run: Seeded['run'] = (sql, variables = {}, intervalMs = MINUTE) =>
    store.query(expandPanelSql(sql, { from: new Date(FROM), to: new Date(TO), intervalMs }, variables));
  return {
    store,
    run,
    runPanel: async (title, variables) =>
      (await run(panelNamed(title).targets?.[0]?.rawSql ?? '', variables)).data,
  };
}

/** An order that was called back, polled and answered for, on the gateway that answers. */
export const KNOWN_ORDER = recent
  .slice(0, 50)
  .find(({ gateway, items }) => gateway === 'acme-eu' && items.length > 6);
export const KNOWN_ID = KNOWN_ORDER?.externalId ?? '';

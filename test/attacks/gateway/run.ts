import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { historyOfGateway } from '../../integration/support/gateway-account.ts';
import { FAST_POLL, gatewayConfig, UNTIL_ANSWERED } from '../../integration/support/gateway.ts';
import { startCollectorProcess, type CollectorProcess } from '../../support/collector-process.ts';
import { startHttpGateway } from '../../support/http-gateway.ts';
import { freePort } from '../../support/kafka-process.ts';
import { until } from '../../support/until.ts';
import { countLost, seedPaidOrder, startGoodTraffic, type GoodReport } from '../support/good-traffic.ts';
import { startObserver, type Observed } from '../support/observer.ts';
import { randomFrom } from '../../support/random.ts';
import { pickReply } from './replies.ts';

export interface GatewayAttackOptions {
  /** Hostile replies in all. */
  readonly messages: number;
  readonly seed: number;
  readonly say: (text: string) => void;
}

export interface GatewayAttackReport {
  /** Hostile replies, by what they were. */
  readonly served: Readonly<Record<string, number>>;
  /** Rejects of the hostile gateway. */
  readonly rejects: Readonly<Record<string, number>>;
  /**
   * The gateway beside it: its orders, how many of them settled, and history items that are missing or too
   * many.
   */
  readonly good: { readonly orders: number; readonly settled: number; readonly wrongItems: number };
  /** Signed callbacks to the intake beside it; lost: answered with 200 and not stored. */
  readonly callbacks: Omit<GoodReport, 'acknowledged'> & { readonly lost: number };
  readonly observed: Observed;
  readonly seconds: number;
}

const BAD_ORDERS = 60;
const GOOD_ORDERS_PER_S = 2;
const CALLBACKS_PER_S = 10;

/** A hostile gateway beside a good one, which has to go on as if it were alone. */
export async function attackAsGateway(options: GatewayAttackOptions): Promise<GatewayAttackReport> {
  const startedMs = performance.now();
  const random = randomFrom(options.seed);
  const served: Record<string, number> = {};
  let count = 0;
  const bad = await startHttpGateway((request, response) => {
    const reply = pickReply(random);
    served[reply.name] = (served[reply.name] ?? 0) + 1;
    count += 1;
    bad.requests.length = 0;
    if (count % 5_000 === 0) options.say(`${count} hostile replies`);
    response.on('error', () => undefined);
    reply.answer(response, idOf(request.url ?? ''), count);
  });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const sandbox = await createSandbox({
    seed: 'beside',
    speed: 200,
    lateShare: 0,
    callbacks: { url: `${url}/callbacks/sandbox`, retryDelaysMs: UNTIL_ANSWERED },
    watchUrl: `${url}/orders`,
  });
  await using collector = await startCollectorProcess({
    config: {
      gateways: [
        gatewayConfig(sandbox),
        {
          name: 'bad',
          secureUrl: bad.url,
          token: 'a token',
          poll: {
            delaysS: [0.5],
            maxDelayS: 1,
            rereadsS: [...FAST_POLL.rereadsS],
            deadlineMs: 1_500,
          },
        },
      ],
      http: { port },
    },
  });
  try {
    const observer = startObserver({ url: collector.http, pid: collector.pid });
    const callbacks = startGoodTraffic({
      url: `${collector.intake}/callbacks/sandbox`,
      key: sandbox.callbackKey,
      perSecond: CALLBACKS_PER_S,
      nextOrder: () => seedPaidOrder(sandbox),
      mostTries: 100,
    });
    sandbox.setRate(GOOD_ORDERS_PER_S);
    await watchBadOrders(collector.http);
    await until(
      'the hostile replies',
      () => count,
      (n) => n >= options.messages,
      60_000 + 100 * options.messages,
    );
    const { acknowledged, ...answered } = await callbacks.stop();
    sandbox.setRate(0);
    const good = await settled(sandbox, collector);
    return {
      served,
      rejects: await rejectsOfBad(collector),
      good,
      callbacks: { ...answered, lost: await countLost(collector, acknowledged) },
      observed: await observer.stop(),
      seconds: Math.round((performance.now() - startedMs) / 1000),
    };
  } finally {
    await sandbox.stop();
    await bad.stop();
  }
}

function idOf(path: string): string {
  return decodeURIComponent(/deposit-order\/([^/]+)\//.exec(path)?.[1] ?? '');
}

async function watchBadOrders(http: string): Promise<void> {
  const orders = Array.from({ length: BAD_ORDERS }, (_, n) => ({
    gateway: 'bad',
    orderType: 'Deposit',
    externalId: `bad-${n}`,
  }));
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(`${http}/orders`, { method: 'POST', headers, body: JSON.stringify(orders) });
  if (reply.status !== 202) throw new Error(`POST /orders answered ${reply.status}`);
}

/** Waits until the good gateway has shown all it will show and the store knows each order's end. */
async function settled(sandbox: Sandbox, collector: CollectorProcess) {
  const unsettled = (): number =>
    sandbox.stats().callbacksPending + sandbox.orders().filter((order) => !order.settled).length;
  await until('the good gateway to come to rest', unsettled, (n) => n === 0);
  // Some never come to an end, as some of a real gateway's do not.
  const orders = sandbox.orders().filter(({ outcome }) => outcome !== 'pending').length;
  const ended = async (): Promise<number> => {
    const sql = `SELECT countIf(settled_at IS NOT NULL) AS n FROM orders WHERE gateway = 'sandbox'`;
    return (await collector.query<{ n: number }>(sql))[0]?.n ?? 0;
  };
  const seen = await until(`${orders} settled orders`, ended, (n) => n >= orders);
  const rows = await collector.query<{ line: string }>(
    `SELECT concat(order_type, '|', external_id, '|', formatDateTime(event_time, '%Y-%m-%dT%H:%i:%S.%fZ'), '|', action, '|',
       toString(occurrence)) AS line
FROM history_events WHERE gateway = 'sandbox'`,
  );
  const stored = new Set(rows.map(({ line }) => line));
  const shown = new Set(historyOfGateway(sandbox, 'sandbox'));
  return {
    orders,
    settled: seen,
    wrongItems:
      [...stored].filter((line) => !shown.has(line)).length +
      [...shown].filter((line) => !stored.has(line)).length,
  };
}

async function rejectsOfBad(collector: CollectorProcess): Promise<Record<string, number>> {
  const rows = await collector.query<{ reason: string; n: number }>(
    `SELECT reason, count() AS n FROM rejects WHERE gateway = 'bad' GROUP BY reason ORDER BY reason`,
  );
  return Object.fromEntries(rows.map(({ reason, n }) => [reason, n]));
}

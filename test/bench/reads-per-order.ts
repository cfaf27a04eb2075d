import { planLife, planRequest, type Life } from '../../sandbox/life.ts';
import { dateLife } from '../../sandbox/orders.ts';
import type { PollConfig } from '../../schemas/config.ts';
import type { PollRow } from '../../schemas/rows.ts';
import { callback, createPipeline, type GatewayOrder, type Pipeline } from '../support/pipeline.ts';

/** How orders are made known, and how they are read. */
interface Way {
  readonly name: string;
  /** The merchant names each order when it is created. */
  readonly isWatched: boolean;
  readonly callbacks: 'all' | 'ends' | 'none';
  readonly policy?: Partial<PollConfig>;
}

const WAYS: readonly Way[] = [
  { name: 'watch messages, callbacks of the end', isWatched: true, callbacks: 'ends' },
  { name: 'watch messages, all callbacks', isWatched: true, callbacks: 'all' },
  { name: 'watch messages only', isWatched: true, callbacks: 'none' },
  { name: 'callbacks of the end only', isWatched: false, callbacks: 'ends' },
  ...[
    { rereadsS: [180, 630] },
    { rereadsS: [630] },
    { delaysS: [5, 30, 120], rereadsS: [630] },
    { delaysS: [120], rereadsS: [630] },
  ].map((policy) => ({
    name: `as the first, ${JSON.stringify(policy)}`,
    isWatched: true,
    callbacks: 'ends' as const,
    policy,
  })),
];

/** What one way read over all its orders. */
interface Tally {
  orders: number;
  readonly perOrder: number[];
  readonly polls: PollRow[];
  /** For each item: from when a reply shows it until it is seen, in seconds. */
  readonly delaysS: number[];
  missed: number;
}

const STATUS = { Create: 'Created', Progress: 'Processing', Success: 'Success', Failed: 'Failed' } as const;

/**
 * How many status requests an order of the sandbox takes, why they are made, what they bring, and how late
 * items are seen: the real poller, decoder and orders on a clock that stands still, the sandbox's lives at
 * their own speed. Not timed, so that it says the same on every machine.
 */
async function readLives(way: Way, orders: number): Promise<Tally> {
  const tally: Tally = { orders: 0, perOrder: [], polls: [], delaysS: [], missed: 0 };
  for (let sequence = 0; sequence < orders; sequence += 1) {
    const request = planRequest('reads', sequence);
    const life = planLife('reads', sequence, request.channel);
    // It is read for a week, and says nothing of the others.
    if (life.final === null) continue;
    tally.orders += 1;
    await readLife(way, life, request.amountMinor, tally);
  }
  return tally;
}

async function readLife(way: Way, life: Life, amountMinor: number, tally: Tally): Promise<void> {
  const pipeline = createPipeline({ jitter: 0.1, ...way.policy });
  const { clock, sink, orders } = pipeline;
  const startMs = clock.now() / 1000;
  const dated = dateLife(life, { createdAtMs: startMs, speed: 1, amountMinor });
  const order: GatewayOrder = { externalId: 'order', orderStatus: 'Processing', history: [] };
  orders.set(order.externalId, order);
  const events: { readonly atMs: number; readonly run: () => unknown }[] = [
    ...dated.items.map(({ visibleAtMs, timeUs, action }) => ({
      atMs: visibleAtMs,
      run: () => {
        order.history.push([timeUs / 1e6 - startMs / 1000, action]);
        order.history.sort(([a], [b]) => a - b);
      },
    })),
    ...dated.statuses.map(({ atMs, status }) => ({ atMs, run: () => (order.orderStatus = status) })),
    ...dated.amounts.map(({ atMs, minor }) => ({ atMs, run: () => (order.amount = minor / 100) })),
    ...callbacksOf(way, life).map(({ type, atUs }) => ({
      atMs: startMs + atUs / 1000,
      run: () => call(pipeline, order, type === 'AmountChanged' ? order.orderStatus : STATUS[type]),
    })),
  ];
  if (way.isWatched)
    events.push({
      atMs: startMs + 50,
      run: () => pipeline.watch({ orderType: 'Deposit', externalId: order.externalId }),
    });
  for (const { atMs, run } of events.toSorted((a, b) => a.atMs - b.atMs)) {
    await clock.advance(Math.max(0, atMs - clock.now() / 1000));
    void run();
  }
  await clock.advance(3_600_000);
  const polls = sink.rows('polls');
  tally.polls.push(...polls);
  tally.perOrder.push(polls.length);
  const seen = sink.rows('historyEvents').map(({ observed_at }) => observed_at / 1000);
  const shown = dated.items.map(({ visibleAtMs }) => visibleAtMs).toSorted((a, b) => a - b);
  tally.missed += shown.length - seen.length;
  // Items are seen in the order in which replies show them.
  for (const [index, atMs] of seen.toSorted((a, b) => a - b).entries())
    tally.delaysS.push((atMs - (shown[index] ?? atMs)) / 1000);
}

function callbacksOf({ callbacks }: Way, life: Life): Life['callbacks'] {
  if (callbacks === 'none') return [];
  return life.callbacks.filter(
    ({ type }) => callbacks === 'all' || (type !== 'Create' && type !== 'Progress'),
  );
}

function call(pipeline: Pipeline, { externalId, amount = 0 }: GatewayOrder, status: string): Promise<void> {
  const receivedAt = pipeline.clock.now();
  return pipeline.receive(callback({ externalId, status, amount: amount.toFixed(2) }, { receivedAt }));
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

function draw({ name }: Way, { orders, perOrder, polls, delaysS, missed }: Tally): void {
  console.log(
    `${name}: ${orders} orders, ${(polls.length / orders).toFixed(2)} reads an order (p50 ${quantile(perOrder, 0.5)}, ` +
      `p99 ${quantile(perOrder, 0.99)}); items seen after p50 ${quantile(delaysS, 0.5).toFixed(1)} s, ` +
      `p99 ${quantile(delaysS, 0.99).toFixed(0)} s, ${missed} missed`,
  );
  for (const [cause, of] of Map.groupBy(polls, (poll) => poll.cause)) {
    const share = (what: string) =>
      `${what} ${((100 * of.filter(({ news }) => news === what).length) / of.length).toFixed(0)} %`;
    console.log(
      `  ${cause.padEnd(8)} ${(of.length / orders).toFixed(2)}: ${['status', 'items', 'facts', 'nothing'].map(share).join(', ')}`,
    );
  }
}

if (import.meta.main) {
  const orders = Number(process.argv[2] ?? 2_000);
  for (const way of WAYS) draw(way, await readLives(way, orders));
}

import { createFindings } from '../../../alerts/findings/sweep.ts';
import { FINDING_KIND_NAMES } from '../../../schemas/findings.ts';
import { createStore } from '../../../store/store.ts';
import { TOPICS } from '../../chaos/processes/broker.ts';
import { committedOffsets, withAdmin } from '../../support/kafka-topics.ts';
import { writerSecret } from '../../support/store-process.ts';
import { until } from '../../support/until.ts';
import { compare, type FoundRow, type KindScore } from './compare.ts';
import { expectedOf } from './expected.ts';
import { GROUP, type Scene, startScene } from './scene.ts';

/**
 * Contradictions of every kind among orders that agree, from the gateway's wire to the view `findings`, with
 * faults on the way: nothing is put into the store by hand. What the comparison waits for takes hours and
 * days, so the clocks of gateway and collector are set forward while nothing moves:
 *
 * 1. Orders that agree, from which moves between codes are learnt; then eight days pass.
 * 2. The traffic itself, with contradictions and faults, compared as it goes.
 * 3. An hour later callbacks are replayed; a quarter of an hour later all is due.
 */
export interface ProofOptions {
  /** Orders of the traffic itself. */
  readonly orders: number;
  /** Contradictions of each kind. */
  readonly each: number;
  readonly ordersPerSecond: number;
  /** The traffic ends after so many, with the orders that there are by then. */
  readonly minutes: number;
  readonly say: (text: string) => void;
}

export interface ProofReport {
  readonly orders: number;
  readonly learntFrom: number;
  readonly ordersPerSecond: number;
  readonly kinds: readonly KindScore[];
  readonly wronglyFound: number;
  /** Wrongly found, and over by the end. */
  readonly wronglyFoundAndResolved: number;
  /** Did everything come to rest before it was compared? */
  readonly rested: boolean;
  /** How often the collector ended by itself and was started anew. */
  readonly restarts: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly gateway: { readonly statusRequests: object; readonly callbacks: object };
}

const MINUTE_MS = 60_000;
const LEARNING_MS = 8 * 24 * 60 * MINUTE_MS;
/** Late items are waited for, and the comparison runs every five minutes. */
const DUE_MS = 22 * MINUTE_MS;
/** Callbacks count as replayed from an hour on. */
const REPLAY_AFTER_MS = 61 * MINUTE_MS;
const REPLAYED_MS = 65 * MINUTE_MS;
const MOST_WATCHED = 6_000;
const LOOK_MS = 2_000;
const SAY_MS = 15_000;
/** Callbacks that the gateway holds back come within five seconds. */
const CALM_LOOKS = 4;
const REST_LIMIT_MS = 600_000;

export async function proveFindings(options: ProofOptions): Promise<ProofReport> {
  const { orders, each, say } = options;
  const scene = await startScene(-(LEARNING_MS + REPLAYED_MS + 2 * DUE_MS));
  const forward = async (ms: number): Promise<void> => {
    await scene.setShift(scene.clock.shiftMs() + ms);
    say(`the clocks were set ${Math.round(ms / MINUTE_MS)} minutes forward`);
  };
  try {
    const learntFrom = Math.min(3_000, Math.max(600, Math.ceil(orders / 20)));
    await traffic(scene, { ...options, orders: learntFrom });
    await rest(scene, say);
    const learntUntil = Math.max(...scene.sandbox.orders().map(({ sequence }) => sequence));
    await forward(DUE_MS);
    await compared(scene, say);
    await forward(LEARNING_MS);

    for (const kind of FINDING_KIND_NAMES)
      scene.sandbox.contradictions.start({ kind, share: (each / orders) * 1.6, delayMs: REPLAY_AFTER_MS });
    await traffic(scene, { ...options, orders: learntFrom + orders });
    await rest(scene, say);
    await forward(REPLAYED_MS);
    const rested = await rest(scene, say);
    await forward(DUE_MS);
    await compared(scene, say);
    return await reckon(scene, { ...options, learntFrom, learntUntil, rested });
  } finally {
    await scene.stop();
  }
}

/** Lets orders come, with a rest while the collector is far behind, until there are enough of all. */
async function traffic({ sandbox, ...scene }: Scene, options: ProofOptions): Promise<void> {
  const { orders, each, ordersPerSecond, say } = options;
  const startedAt = performance.now();
  let said = startedAt;
  const first = sandbox.stats().orders.created;
  for (;;) {
    const { created } = sandbox.stats().orders;
    const active = sandbox.contradictions.list();
    for (const { id, orders: drawn } of active) if (drawn >= wanted(each)) sandbox.contradictions.end(id);
    const isShort = active.length > 0 && created < first + (orders - first) * 1.5;
    if (created >= orders && !isShort) break;
    if (performance.now() - startedAt > options.minutes * MINUTE_MS) break;
    const watched = await watchedOrders(scene);
    sandbox.setRate(watched > MOST_WATCHED ? 0 : ordersPerSecond);
    if (performance.now() - said > SAY_MS) {
      said = performance.now();
      const rate = ((created - first) / (said - startedAt)) * 1000;
      say(`${created} of ${orders} orders, ${rate.toFixed(1)} a second; ${watched} are watched`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS / 4));
  }
  sandbox.setRate(0);
  for (const { id } of sandbox.contradictions.list()) sandbox.contradictions.end(id);
}

/** A few more than asked for: what could not be carried out does not count. */
const wanted = (each: number): number => Math.ceil(each * 1.05);

async function watchedOrders({ collector }: Pick<Scene, 'collector'>): Promise<number> {
  try {
    const reply = await fetch(`${collector().http}/readyz`);
    return ((await reply.json()) as { watched?: number }).watched ?? 0;
  } catch {
    return 0;
  }
}

/** False when something still moves after the limit, which is said. */
async function rest(scene: Scene, say: ProofOptions['say']): Promise<boolean> {
  const deadline = performance.now() + REST_LIMIT_MS;
  let said = performance.now();
  for (let calm = 0; ;) {
    const moving = await unrest(scene);
    const isMoving = Object.values(moving).some((count) => count !== 0);
    calm = isMoving ? 0 : calm + 1;
    if (calm >= CALM_LOOKS || performance.now() > deadline) {
      say(isMoving ? `it does not come to rest: ${JSON.stringify(moving)}` : 'all is at rest');
      return !isMoving;
    }
    if (performance.now() - said > SAY_MS) {
      said = performance.now();
      say(`coming to rest: ${JSON.stringify(moving)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function unrest({ sandbox, bridge, brokers, collector }: Scene) {
  // The truth of all orders is long: to ask for it again and again would keep the gateway from answering.
  const { callbacksPending, ordersUnsettled, ordersShownToEnd } = sandbox.stats();
  const gateway = callbacksPending + ordersUnsettled;
  if (gateway + bridge.pending() > 0) return { gateway, bridge: bridge.pending() };
  const [row] = await collector().query<{ n: number }>(
    'SELECT countIf(settled_at IS NOT NULL) AS n FROM orders',
  );
  return { lag: await lagOf(brokers), unsettled: ordersShownToEnd - (row?.n ?? 0) };
}

async function lagOf(brokers: readonly string[]): Promise<number> {
  let lag = 0;
  for (const topic of Object.values(TOPICS)) {
    const ends = await withAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic));
    const committed = await committedOffsets(brokers, GROUP, topic);
    for (const { partition, high } of ends) lag += Number(high) - Math.max(0, committed.get(partition) ?? 0);
  }
  return lag;
}

/**
 * Compares what is left. The collector does so as it goes, but after the clocks were set forward it evaluates
 * its rules for the minutes that it missed first.
 */
async function compared({ clock, collector }: Scene, say: ProofOptions['say']): Promise<void> {
  const password = writerSecret(collector().dataDir);
  const store = createStore({ url: collector().store, username: 'gatewatch', password });
  const findings = createFindings({
    query: (sql) => store.query(sql),
    command: (sql) => store.command(sql),
  });
  const target = clock.now() - 3 * MINUTE_MS;
  await until(
    'the sources to be compared up to now',
    async () => {
      while (await findings.sweep(Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS)) continue;
      const [row] = await store.query<{ at: number }>(
        "SELECT toUnixTimestamp(max(done_to)) AS at FROM jobs_store WHERE job = 'compare sources'",
      );
      return Number(row?.at ?? 0) * 1000;
    },
    (at) => at >= target,
    REST_LIMIT_MS,
  );
  await store.close();
  say('compared');
}

async function reckon(
  { sandbox, collector, restarts }: Scene,
  given: ProofOptions & { learntFrom: number; learntUntil: number; rested: boolean },
): Promise<ProofReport> {
  const rows = await collector().query<FoundRow>(
    'SELECT external_id, kind, subject, received, toString(evidence) AS evidence, resolved_at IS NOT NULL AS resolved FROM findings',
  );
  const kinds = compare(expectedOf(sandbox.orders(), given.learntUntil), rows);
  const { orders, statusRequests, callbacks, faults } = sandbox.stats();
  const sum = (field: 'wronglyFound' | 'wronglyFoundAndResolved'): number =>
    kinds.reduce((all, kind) => all + kind[field], 0);
  return {
    orders: orders.created - given.learntFrom,
    learntFrom: given.learntFrom,
    ordersPerSecond: given.ordersPerSecond,
    rested: given.rested,
    wronglyFound: sum('wronglyFound'),
    wronglyFoundAndResolved: sum('wronglyFoundAndResolved'),
    kinds,
    restarts: restarts(),
    faults,
    gateway: { statusRequests, callbacks },
  };
}

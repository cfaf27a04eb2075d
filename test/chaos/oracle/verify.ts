import { createHmac } from 'node:crypto';
import { GATEWAY, type Arm } from '../arm.ts';
import { TOPICS } from '../processes/broker.ts';
import { expectCallbacks, readAccepted, type AcceptedRecord } from './accepted.ts';
import { checkCallbacks, checkRejects } from './check-callbacks.ts';
import { checkFindings } from './check-findings.ts';
import { checkHistory } from './check-history.ts';
import { checkOrders } from './check-orders.ts';
import { blame, createTally, type Tally } from './tally.ts';

/** What the sources accepted, and what of it the views show. */
export interface Verification {
  readonly tallies: readonly Tally[];
  readonly accepted: {
    readonly orders: number;
    readonly historyItems: number;
    readonly callbackRecords: number;
    readonly watchRecords: number;
    /** History items and records of both topics. */
    readonly events: number;
  };
  /** Found in the topics, as they were written. */
  readonly mischief: {
    readonly poison: Readonly<Record<string, number>>;
    readonly duplicates: number;
    readonly resends: number;
    readonly outOfPlace: number;
    readonly viaIntake: number;
  };
  readonly rejectsOfReplies: number;
  readonly polls: PollFigures;
}

export interface PollFigures {
  readonly rows: number;
  readonly perOrderMedian: number;
  readonly perOrderP99: number;
  /** The most that one collector began within any second, by the times that it stored. */
  readonly busiestSecond: number;
}

export async function verify(arm: Arm): Promise<Verification> {
  const truth = arm.sandbox.orders();
  const brokers = [arm.broker.direct];
  const callbacks = await readAccepted(brokers, TOPICS.callbacks);
  const watches = await readAccepted(brokers, TOPICS.orders);
  const expected = expectCallbacks(callbacks, arm.sandbox.callbackKey, [GATEWAY]);
  const watchPoison = watches.filter(({ chaos }) => chaos.startsWith('poison'));
  const query = <T>(sql: string) => arm.query<T>(sql);
  const history = await checkHistory(GATEWAY, truth, query);
  const rejects = await checkRejects(expected.rejects, watchPoison, query);
  const tallies = [
    history,
    await checkOrders(truth, query),
    await checkCallbacks(expected.callbacks, query),
    rejects.tally,
    checkIntake(arm, callbacks),
    await checkPolls(query),
    // Last: it says what time it will be.
    await checkFindings(GATEWAY, truth, expected.callbacks, query),
  ];
  return {
    tallies,
    accepted: {
      orders: truth.length,
      historyItems: history.expected,
      callbackRecords: callbacks.length,
      watchRecords: watches.length,
      events: history.expected + callbacks.length + watches.length,
    },
    mischief: {
      poison: countBy([...callbacks, ...watches].filter(({ chaos }) => chaos.startsWith('poison'))),
      duplicates: callbacks.filter(({ chaos }) => chaos === 'duplicate').length,
      resends: callbacks.filter(({ chaos }) => chaos === 'resend').length,
      outOfPlace: outOfPlace(callbacks),
      viaIntake: callbacks.filter(({ chaos }) => chaos === 'intake').length,
    },
    rejectsOfReplies: rejects.ofReplies,
    polls: await pollFigures(query),
  };
}

/**
 * For a body that the intake answered with 200 a part of it must stand in the topic, with the seal of the
 * whole.
 */
function checkIntake(arm: Arm, records: readonly AcceptedRecord[]): Tally {
  const tally = createTally('callbacks taken over HTTP');
  const found = Map.groupBy(
    records.filter(({ chaos }) => chaos === 'intake'),
    ({ bodyHash }) => bodyHash,
  );
  for (const [body, times] of arm.bridge.takenByIntake) {
    tally.expected += times;
    const seal = createHmac('sha256', arm.sandbox.token).update(body, 'latin1').digest('hex');
    const there = found.get(seal)?.length ?? 0;
    tally.stored += Math.min(times, there);
    if (there < times) blame(tally, 'lost', body.slice(0, 60), times - there);
  }
  return tally;
}

/** Each status request is one row. */
async function checkPolls(query: Arm['query']): Promise<Tally> {
  const tally = createTally('status requests');
  const [row] = await query<{ rows: number; ids: number }>(
    'SELECT count() AS rows, uniqExact(collector_id, poll_id) AS ids FROM polls',
  );
  tally.expected = row?.ids ?? 0;
  tally.stored = row?.rows ?? 0;
  if (tally.stored > tally.expected)
    blame(tally, 'duplicated', 'rows of one request', tally.stored - tally.expected);
  return tally;
}

async function pollFigures(query: Arm['query']): Promise<PollFigures> {
  const [row] = await query<{ rows: number; median: number; p99: number }>(
    `SELECT sum(n) AS rows, quantileExact(0.5)(n) AS median, quantileExact(0.99)(n) AS p99
FROM (SELECT order_type, order_id, count() AS n FROM polls GROUP BY order_type, order_id)`,
  );
  const [rate] = await query<{ most: number }>(
    `SELECT max(n) AS most FROM (SELECT count() OVER (PARTITION BY collector_id
ORDER BY toUnixTimestamp64Micro(started_at) RANGE BETWEEN 999999 PRECEDING AND CURRENT ROW) AS n FROM polls)`,
  );
  return {
    rows: row?.rows ?? 0,
    perOrderMedian: row?.median ?? 0,
    perOrderP99: row?.p99 ?? 0,
    busiestSecond: rate?.most ?? 0,
  };
}

function countBy(records: readonly AcceptedRecord[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { chaos } of records) {
    const kind = chaos.replace(/^poison /, '');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** Records that stand behind one of the same order which was taken later. */
function outOfPlace(records: readonly AcceptedRecord[]): number {
  let count = 0;
  const firsts = records.filter(({ chaos, sequence }) => chaos === 'callback' && sequence !== null);
  for (const own of Map.groupBy(firsts, ({ key }) => key).values()) {
    const inTopic = own.toSorted((a, b) => Number(BigInt(a.offset) - BigInt(b.offset)));
    let latest = -1;
    for (const { sequence } of inTopic) {
      if ((sequence ?? 0) < latest) count += 1;
      latest = Math.max(latest, sequence ?? 0);
    }
  }
  return count;
}

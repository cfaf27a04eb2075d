import { withAdmin } from '../../support/kafka-topics.ts';
import type { Arm } from '../arm.ts';
import { TOPICS } from '../processes/broker.ts';
import { isFinal } from './check-orders.ts';

/** What still moves; all zero: the run has come to rest. */
export interface Unrest {
  readonly gatewayPending: number;
  readonly bridgePending: number;
  readonly lag: number;
  readonly unsettled: number;
  readonly watched: number;
}

const CALM_LOOKS = 3;
const LOOK_MS = 1000;

/**
 * Waits until the gateway has shown all it will show, the group has committed every record and each order was
 * read to its end. Gives up after `withinMs`, with what still moved then: what is missing is for the checks
 * to say.
 */
export async function settle(
  arm: Arm,
  withinMs: number,
  onLook: (unrest: Unrest) => void,
  restsOn?: readonly (keyof Unrest)[],
): Promise<{ settled: boolean; unrest: Unrest }> {
  const deadline = performance.now() + withinMs;
  let calm = 0;
  for (;;) {
    const unrest = await look(arm);
    onLook(unrest);
    const moving = restsOn === undefined ? Object.values(unrest) : restsOn.map((what) => unrest[what]);
    calm = moving.every((count) => count === 0) ? calm + 1 : 0;
    if (calm >= CALM_LOOKS) return { settled: true, unrest };
    if (performance.now() > deadline) return { settled: false, unrest };
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function look(arm: Arm): Promise<Unrest> {
  const orders = arm.sandbox.orders();
  const endless = orders.filter((order) => !isFinal(order)).length;
  const moving = orders.filter((order) => !order.settled).length;
  const settled = await arm
    .query<{ n: number }>('SELECT countIf(settled_at IS NOT NULL) AS n FROM orders')
    .catch(() => []);
  let watched = 0;
  for (const collector of arm.collectors) {
    if (collector.program.isRunning) watched += (await collector.watched()) ?? 1;
  }
  const running = arm.collectors.filter(({ program }) => program.isRunning).length;
  return {
    gatewayPending: arm.sandbox.stats().callbacksPending + moving,
    bridgePending: arm.bridge.pending(),
    lag: await lagOf(arm).catch(() => -1),
    unsettled: orders.length - endless - (settled[0]?.n ?? 0),
    // An order that never ends is watched for ever, by each collector that knows it.
    watched: Math.max(0, watched - endless * running),
  };
}

/** Records of both topics that the group has not committed. */
async function lagOf(arm: Arm): Promise<number> {
  return withAdmin([arm.broker.direct], async (admin) => {
    let lag = 0;
    for (const topic of Object.values(TOPICS)) {
      const ends = await admin.fetchTopicOffsets(topic);
      const [group] = await admin.fetchOffsets({ groupId: arm.groupId, topics: [topic] });
      const committed = new Map(
        group?.partitions.map(({ partition, offset }) => [partition, Number(offset)]),
      );
      for (const { partition, high, low } of ends) {
        const at = committed.get(partition) ?? -1;
        lag += Number(high) - (at < 0 ? Number(low) : at);
      }
    }
    return lag;
  });
}

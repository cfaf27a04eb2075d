import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mainEndpoint } from '../../../sandbox/options.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { MISCHIEF, startBridge, type Bridge } from '../../chaos/oracle/bridge.ts';
import { PARTITIONS, TOPICS } from '../../chaos/processes/broker.ts';
import {
  type CollectorProcess,
  type ConfigInput,
  startCollectorProcess,
} from '../../support/collector-process.ts';
import { startOwnKafka } from '../../support/kafka-broker.ts';
import { freePort } from '../../support/kafka-process.ts';
import { createTopic } from '../../support/kafka-topics.ts';
import { createShiftedClock, shiftedEnvironment, type ShiftedClock } from '../../support/shifted-clock.ts';

/** A gateway, a broker, a bridge between them, and a collector with its embedded store. */
export interface Scene {
  readonly sandbox: Sandbox;
  readonly bridge: Bridge;
  readonly brokers: readonly string[];
  readonly clock: ShiftedClock;
  collector(): CollectorProcess;
  /** How often it ended by itself, as it does when it is stuck, and was started anew. */
  restarts(): number;
  /** All clocks but the store's are set forward; the collector is started anew. */
  setShift(ms: number): Promise<void>;
  stop(): Promise<void>;
}

export const GROUP = 'findings-proof';
const GATEWAY = 'sandbox';
/** An order's minutes in seconds: its last late item comes within 9.5 s of its end. */
const SPEED = 60;
const POLL = {
  delaysS: [1, 2, 5, 15],
  maxDelayS: 30,
  rereadsS: [3, 14],
  concurrency: 48,
  requestsPerSecond: 1_000,
  deadlineMs: 3_000,
  mergeCallbacksMs: 500,
};

/** What happens on the way, by chance, and must neither hide a contradiction nor look like one. */
const FAULTS = [
  { name: 'slow', probability: 0.005, delayMs: 1_000 },
  { name: 'timeout', probability: 0.001, delayMs: 5_000 },
  { name: 'connection_reset', probability: 0.003 },
  { name: 'truncated_body', probability: 0.002 },
  { name: 'truncated_json', probability: 0.002 },
  { name: 'http_423', probability: 0.003 },
  { name: 'http_429', probability: 0.002, retryAfterSeconds: 1 },
  { name: 'http_499', probability: 0.002 },
  { name: 'http_500', probability: 0.005 },
  { name: 'http_503', probability: 0.005 },
  { name: 'http_404', probability: 0.002 },
  { name: 'id_mismatch', probability: 0.002 },
  { name: 'out_of_order_items', probability: 0.005 },
] as const;
const CALLBACK_FAULTS = [
  { name: 'callback_duplicate', probability: 0.03 },
  { name: 'callback_delayed', probability: 0.1, delayMs: 5_000 },
] as const;

export async function startScene(shiftMs: number): Promise<Scene> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-findings-'));
  const broker = await startOwnKafka();
  const brokers = [broker.bootstrap];
  for (const topic of Object.values(TOPICS)) await createTopic(brokers, topic, { partitions: PARTITIONS });
  const port = await freePort();
  const intake = `http://127.0.0.1:${port}/callbacks/${GATEWAY}`;
  const mischief = { ...MISCHIEF, byIntake: 0.2 };
  const bridge = await startBridge({
    seed: 'findings',
    brokers,
    gateway: GATEWAY,
    mischief,
    intake,
  });
  const clock = createShiftedClock(shiftMs);
  const token = 'token-of-the-findings-proof';
  const sandbox = await createSandbox({
    seed: 'findings',
    clock,
    speed: SPEED,
    // Microseconds: at this speed two items would often share a millisecond.
    endpoints: [
      { ...mainEndpoint(token), timeDigits: 6 },
      { ...mainEndpoint(`${token}-p2p`), name: 'p2p', secure: 'p2p', timeDigits: 6 },
    ],
    callbacks: {
      url: bridge.callbackUrl,
      retryDelaysMs: Array.from({ length: 1_000 }, () => 400),
      maxQueued: 1_000_000,
    },
    watchUrl: bridge.watchUrl,
    gatewayName: GATEWAY,
    retentionMs: 30 * 86_400_000,
    maxOrders: 1_000_000,
  });
  for (const fault of FAULTS) sandbox.faults.add({ ...fault, endpoint: 'status' });
  for (const fault of CALLBACK_FAULTS) sandbox.faults.add(fault);
  const config: ConfigInput = {
    collectorId: 'one',
    gateways: [
      {
        name: GATEWAY,
        secureUrl: sandbox.secureUrl,
        token: sandbox.token,
        callbackKeys: [sandbox.callbackKey],
        poll: POLL,
      },
    ],
    kafka: {
      brokers: [...brokers],
      groupId: GROUP,
      callbackTopics: [TOPICS.callbacks],
      watchTopic: TOPICS.orders,
    },
    http: { port },
    embedded: { port: await freePort(), fsync: false },
  };
  const kept = createKept(() =>
    startCollectorProcess({ config, folder, env: shiftedEnvironment(clock.shiftMs()) }),
  );
  await kept.start();
  return {
    sandbox,
    bridge,
    brokers,
    clock,
    collector: kept.collector,
    restarts: kept.restarts,
    async setShift(ms) {
      await kept.stop();
      clock.setShift(ms);
      await kept.start();
    },
    async stop() {
      await sandbox.stop();
      await bridge.close();
      await kept.stop();
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A collector that is started anew whenever it ends by itself, as systemd would. Its ports stay. */
function createKept(launch: () => Promise<CollectorProcess>) {
  let collector: CollectorProcess | null = null;
  let isWanted = false;
  let restarts = 0;
  let starting = Promise.resolve();
  const start = async (): Promise<void> => {
    const one = await launch();
    collector = one;
    void one.ended.then(() => {
      if (!isWanted) return;
      restarts += 1;
      starting = start();
    });
  };
  const current = (): CollectorProcess => {
    if (collector === null) throw new TypeError('the collector was not started');
    return collector;
  };
  return {
    collector: current,
    restarts: () => restarts,
    async start() {
      isWanted = true;
      await start();
    },
    async stop() {
      isWanted = false;
      await starting;
      await current().stop();
    },
  };
}

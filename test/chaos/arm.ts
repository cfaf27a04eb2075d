import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { freePort } from '../support/kafka-process.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import type { ConfigInput } from '../support/collector-process.ts';
import { writerSecret } from '../support/store-process.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { startBridge, type Bridge, type Mischief } from './oracle/bridge.ts';
import { createTopics, startBroker, TOPICS, type Broker } from './processes/broker.ts';
import { createCollector, type Collector } from './processes/collector.ts';
import { createStore, queryAsWriter, type Store } from './processes/store.ts';
import { createHttpTap, nameGatewayRequest, nameStoreRequest } from './wire/http-tap.ts';
import { createKafkaTap } from './wire/kafka-tap.ts';
import { openLink, type Link } from './wire/link.ts';

export const GATEWAY = 'sandbox';

/** An order's life of minutes in seconds; its last late item comes within 9.5 s of its final status. */
const SPEED = 60;
const POLL = {
  delaysS: [0.5, 1, 2],
  maxDelayS: 4,
  rereadsS: [3, 11],
  concurrency: 32,
  deadlineMs: 3000,
  mergeCallbacksMs: 100,
};

/** One experiment: oracle, broker, store and collectors, with a proxy on each way between them. */
export interface Arm {
  readonly seed: string;
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly bridge: Bridge;
  readonly broker: Broker;
  /** Null: the collector runs its embedded store. */
  readonly store: Store | null;
  readonly collectors: readonly Collector[];
  readonly budgetPerSecond: number;
  /** The most status requests of one collector that arrived in a second. */
  readonly busiestSecond: () => number;
  /** The most that arrived in any ten seconds, for one second of them. */
  readonly busiestTenSeconds: () => number;
  /** Generations of the consumer group in which somebody joined. */
  readonly generations: ReadonlySet<number>;
  readonly groupId: string;
  query<T>(sql: string): Promise<T[]>;
  stop(): Promise<void>;
}

export interface ArmOptions {
  readonly seed: string;
  readonly folder: string;
  readonly collectors: number;
  readonly embedded?: boolean;
  readonly mischief: Mischief;
  /** Status requests a second that a collector may make. @default 500 */
  readonly budgetPerSecond?: number;
  /** Where the store keeps its data. @default in `folder` */
  readonly storeFolder?: string;
  /** Environment of the collectors. @default none */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts everything but the collectors and the traffic. */
export async function startArm(options: ArmOptions): Promise<Arm> {
  const { seed, folder } = options;
  mkdirSync(folder, { recursive: true });
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of closers.toReversed()) await close().catch(() => undefined);
  };
  try {
    let broker: Broker | null = null;
    let sandbox: Sandbox | null = null;
    const storePort = await freePort();
    const embedded = options.embedded === true;
    const links: { store: Link | null; gateway: Link; kafka: Link }[] = [];
    for (let index = 0; index < options.collectors; index += 1) {
      const name = nameOf(index);
      const store = embedded
        ? null
        : await openLink({
            name: `${name} to store`,
            targetPort: () => storePort,
            tap: (host) => createHttpTap(host, nameStoreRequest),
          });
      const gateway = await openLink({
        name: `${name} to gateway`,
        targetPort: () => Number(new URL(sandbox?.url ?? 'http://127.0.0.1:1').port),
        tap: (host) => createHttpTap(host, nameGatewayRequest),
      });
      const kafka = await openLink({
        name: `${name} to broker`,
        targetPort: () => broker?.doorOf(index) ?? 1,
        tap: createKafkaTap,
      });
      links.push({ store, gateway, kafka });
      closers.push(() => Promise.all([store?.close(), gateway.close(), kafka.close()]));
    }
    broker = await startBroker(links.map(({ kafka }) => kafka.port));
    closers.push(() => (broker as Broker).stop());
    await createTopics(broker);

    const httpPorts: number[] = [];
    for (const _ of links) httpPorts.push(await freePort());
    const bridge = await startBridge({
      seed,
      brokers: [broker.direct],
      gateway: GATEWAY,
      mischief: options.mischief,
      intake: `http://127.0.0.1:${httpPorts[0]}/callbacks/${GATEWAY}`,
    });
    closers.push(() => bridge.close());
    sandbox = await createSandbox({
      seed,
      speed: SPEED,
      callbacks: {
        url: bridge.callbackUrl,
        retryDelaysMs: Array.from({ length: 1000 }, () => 400),
        maxQueued: 1_000_000,
      },
      watchUrl: bridge.watchUrl,
      gatewayName: GATEWAY,
      retentionMs: 86_400_000,
      maxOrders: 1_000_000,
    });
    closers.push(() => (sandbox as Sandbox).stop());
    for (const name of ['unknown_code', 'legacy_code'] as const)
      sandbox.faults.add({ name, probability: 0.03 });
    sandbox.faults.add({ name: 'callback_wrong_signature', probability: 0.02 });
    for (const name of ['http_500', 'http_423', 'http_429', 'truncated_json', 'id_mismatch'] as const)
      sandbox.faults.add({ name, probability: 0.002, endpoint: 'status', retryAfterSeconds: 1 });

    let store: Store | null = null;
    if (!embedded) {
      store = createStore(options.storeFolder ?? path.join(folder, 'store'), storePort, folder);
      store.program.start();
      const { program } = store;
      await until(() => (store as Store).isUp(), PATIENCE_MS, 'the store to answer').catch((error: Error) => {
        throw new Error(`${error.message}\n${program.endings.at(-1)?.lastWords.join('\n') ?? ''}`);
      });
      closers.push(async () => {
        await (store as Store).program.stop();
        (store as Store).killEngine();
      });
    }

    const groupId = uniqueName('chaos');
    const generations = new Set<number>();
    const budgetPerSecond = options.budgetPerSecond ?? 500;
    const meter = createRateMeter(1);
    const slowMeter = createRateMeter(10);
    const collectors = links.map((own, index) => {
      own.kafka.onAnswered(({ generation }) => generation !== null && generations.add(generation));
      if (index === 0)
        own.gateway.onAsked(({ name }) => {
          if (name !== 'status') return;
          meter.note();
          slowMeter.note();
        });
      const config = configOf(own, {
        budgetPerSecond,
        sandbox: sandbox as Sandbox,
        groupId,
        index,
        store,
        storePort,
        folder,
      });
      const collector = createCollector({
        name: nameOf(index),
        folder,
        links: own,
        httpPort: httpPorts[index] ?? 0,
        config: { ...config, http: { port: httpPorts[index] ?? 0 } },
      });
      collector.env = { ...options.env };
      closers.push(() => collector.program.stop());
      return collector;
    });
    const dataDir = embedded ? embeddedFolder(folder) : (options.storeFolder ?? path.join(folder, 'store'));
    return {
      seed,
      folder,
      sandbox,
      bridge,
      broker,
      store,
      collectors,
      budgetPerSecond,
      busiestSecond: meter.most,
      busiestTenSeconds: () => slowMeter.most() / 10,
      generations,
      groupId,
      query: (sql) => queryAsWriter(`http://127.0.0.1:${storePort}`, writerSecret(dataDir), sql),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ConfigParts {
  readonly budgetPerSecond: number;
  readonly sandbox: Sandbox;
  readonly groupId: string;
  readonly index: number;
  readonly store: Store | null;
  readonly storePort: number;
  readonly folder: string;
}

function configOf(links: Collector['links'], parts: ConfigParts): ConfigInput {
  const { sandbox, groupId, index, store, folder } = parts;
  const base: ConfigInput = {
    collectorId: nameOf(index),
    gateways: [
      {
        name: GATEWAY,
        secureUrl: `http://127.0.0.1:${links.gateway.port}/secure`,
        token: sandbox.token,
        callbackKeys: [sandbox.callbackKey],
        poll: { ...POLL, requestsPerSecond: parts.budgetPerSecond },
      },
    ],
    kafka: {
      brokers: [`127.0.0.1:${links.kafka.port}`],
      groupId,
      callbackTopics: [TOPICS.callbacks],
      watchTopic: TOPICS.orders,
      sessionTimeoutMs: 6000,
    },
  };
  if (links.store === null || store === null)
    return { ...base, dataDir: embeddedFolder(folder), embedded: { port: parts.storePort, fsync: false } };
  const url = `http://127.0.0.1:${links.store.port}`;
  return {
    ...base,
    // Short, so that a store which hears and does not answer is noticed within the run.
    clickhouse: { url, username: 'gatewatch', password: store.password, requestTimeoutMs: 5000 },
  };
}

const embeddedFolder = (folder: string) => path.join(folder, 'embedded');
const nameOf = (index: number) => `collector-${'abc'[index]}`;

/**
 * Requests by whole seconds would miss a burst over their edge: a window of `seconds` slides over them.
 */
function createRateMeter(seconds: number): { note(): void; most(): number } {
  const recent: number[] = [];
  let most = 0;
  return {
    note() {
      const now = performance.now();
      recent.push(now);
      while ((recent[0] ?? now) <= now - seconds * 1000) recent.shift();
      most = Math.max(most, recent.length);
    },
    most: () => most,
  };
}

/** @throws Error that says what did not happen */
export async function until(
  look: () => Promise<boolean> | boolean,
  withinMs: number,
  what: string,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

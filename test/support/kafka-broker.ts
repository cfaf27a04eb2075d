import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { hasDocker, startKafkaContainer } from './kafka-docker.ts';
import { fetchKafkaJars } from './kafka-jars.ts';
import { type KafkaProcess, type KafkaProcessOptions, startKafkaProcess } from './kafka-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kafkaDoor: number;
  }
}

/** What a test gets: a broker, or the reason why there is none. */
export type KafkaForTests =
  | {
      readonly available: true;
      readonly brokers: readonly string[];
      /** Kafka's jars, for its own tools; absent with `KAFKA_BROKERS` and Docker. */
      readonly jars?: string;
    }
  | { readonly available: false; readonly reason: string };

type Started = { kafka: KafkaForTests; stop(): Promise<void> };

/**
 * A real broker, by order of choice: `KAFKA_BROKERS` (comma list), Apache Kafka's jars on Java, Docker.
 * Answers with the reason when nothing of these works.
 */
export async function startKafka(): Promise<Started> {
  const configured = process.env['KAFKA_BROKERS'];
  if (configured) {
    const brokers = configured.split(',').map((broker) => broker.trim());
    return { kafka: { available: true, brokers }, stop: async () => undefined };
  }
  const failures: string[] = [];
  try {
    const broker = await startOwnKafka();
    const { bootstrap, jars, stop } = broker;
    return { kafka: { available: true, brokers: [bootstrap], jars }, stop };
  } catch (error) {
    failures.push(String(error));
  }
  if (await hasDocker()) {
    try {
      const { bootstrap, stop } = await startKafkaContainer();
      return { kafka: { available: true, brokers: [bootstrap] }, stop };
    } catch (error) {
      failures.push(String(error));
    }
  } else {
    failures.push('no Docker engine answers');
  }
  const reason = `No Kafka for tests (set KAFKA_BROKERS, or install Java 17 and Maven): ${failures.join('; ')}`;
  return { kafka: { available: false, reason }, stop: async () => undefined };
}

/** A broker of one's own, to kill and freeze. Needs Java; throws when it cannot be had. */
export async function startOwnKafka(options: Omit<KafkaProcessOptions, 'jars'> = {}): Promise<KafkaProcess> {
  return startKafkaProcess({ jars: await fetchKafkaJars(), ...options });
}

/**
 * vitest `globalSetup`: one broker for the whole run, started when the first test file asks for it. Workers
 * ask through a loopback port, so that a run without Kafka tests starts nothing.
 */
export default async function startSharedKafka(
  project: Pick<TestProject, 'provide'>,
): Promise<() => Promise<void>> {
  let started: Promise<Started> | undefined;
  const door = createServer((socket) => {
    socket.on('error', () => undefined);
    started ??= startKafka();
    void started.then(({ kafka }) => socket.end(JSON.stringify(kafka)));
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  const address = door.address();
  if (address === null || typeof address === 'string') throw new Error('No TCP port');
  project.provide('kafkaDoor', address.port);
  return async () => {
    door.close();
    await (await started)?.stop();
  };
}

let own: Promise<Started> | undefined;

/**
 * For test files: `const kafka = await useKafka(); describe.skipIf(!kafka.available)(...)`. With
 * `GATEWATCH_REQUIRE_KAFKA=1` a missing broker throws instead. Without the `globalSetup`, the worker starts
 * its own broker, which ends with it.
 */
export async function useKafka(): Promise<KafkaForTests> {
  const port = inject('kafkaDoor') as number | undefined;
  const kafka = port === undefined ? (await (own ??= startKafka())).kafka : await askAt(port);
  if (!kafka.available) {
    if (process.env['GATEWATCH_REQUIRE_KAFKA'] === '1') throw new Error(kafka.reason);
    console.warn(`Kafka tests are skipped. ${kafka.reason}`);
  }
  return kafka;
}

async function askAt(port: number): Promise<KafkaForTests> {
  return JSON.parse(await text(createConnection(port, '127.0.0.1'))) as KafkaForTests;
}

async function serve(): Promise<void> {
  const { kafka, stop } = await startKafka();
  if (!kafka.available) {
    console.error(kafka.reason);
    process.exitCode = 1;
    return;
  }
  console.log(kafka.brokers.join(','));
  const alive = setInterval(() => undefined, 60_000);
  const end = (): void => {
    clearInterval(alive);
    void stop();
  };
  process.once('SIGINT', end).once('SIGTERM', end);
}

if (import.meta.main) await serve();

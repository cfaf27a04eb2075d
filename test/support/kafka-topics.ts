import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { type Admin, type IHeaders, Kafka, logLevel, Partitioners } from 'kafkajs';
import { patchKafkajs } from '../../collector/sources/kafka/kafkajs-patches.ts';

const run = promisify(execFile);

patchKafkajs();

export interface TopicOptions {
  /** @default 1 */
  partitions?: number;
  /** Topic settings, e.g. `{ 'cleanup.policy': 'compact' }`. */
  settings?: Record<string, string>;
}

export interface TestMessage {
  key?: string | Buffer | null;
  value: string | Buffer | null;
  headers?: IHeaders;
  partition?: number;
}

/** A topic or group name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
}

/** A quiet kafkajs client for tests: independent of the code under test. */
export function testClient(brokers: readonly string[]): Kafka {
  return new Kafka({ brokers: [...brokers], clientId: 'test', logLevel: logLevel.NOTHING });
}

/** Creates a topic and waits until it has leaders. Returns its name. */
export async function createTopic(
  brokers: readonly string[],
  topic: string,
  options: TopicOptions = {},
): Promise<string> {
  const configEntries = Object.entries(options.settings ?? {}).map(([name, value]) => ({ name, value }));
  await withAdmin(brokers, (admin) =>
    admin.createTopics({
      topics: [{ topic, numPartitions: options.partitions ?? 1, configEntries }],
      waitForLeaders: true,
    }),
  );
  return topic;
}

/** Produces with kafkajs in one request a call, acknowledged by all replicas. */
export async function produce(
  brokers: readonly string[],
  topic: string,
  messages: readonly TestMessage[],
): Promise<void> {
  const producer = testClient(brokers).producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: [...messages] });
  } finally {
    await producer.disconnect();
  }
}

/** Offsets which a group has committed, by partition; -1 where it has none. */
export async function committedOffsets(
  brokers: readonly string[],
  groupId: string,
  topic: string,
): Promise<Map<number, number>> {
  const [offsets] = await withAdmin(brokers, (admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
  return new Map(offsets?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
}

export async function withAdmin<T>(
  brokers: readonly string[],
  use: (admin: Admin) => Promise<T>,
): Promise<T> {
  const admin = testClient(brokers).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}

/** True when kcat (librdkafka's command-line client) is installed. */
export async function hasKcat(): Promise<boolean> {
  return run('kcat', ['-V']).then(
    () => true,
    () => false,
  );
}

/** Runs a command with `input` on its standard input; resolves with its output, rejects when it fails. */
export async function pipeInto(
  command: string,
  args: readonly string[],
  input: string | Buffer,
): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${errors.slice(-500)}`);
  return output;
}

/** `kcat` against these brokers: `kcat(brokers, ['-P', '-t', topic, '-k', 'key'], 'body')`. */
export async function kcat(brokers: readonly string[], args: readonly string[], input = ''): Promise<string> {
  return pipeInto('kcat', ['-b', brokers.join(','), ...args], input);
}

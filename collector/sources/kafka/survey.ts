import type { KafkaConfig } from '../../../schemas/config.ts';
import type { KafkaSurvey } from '../../../schemas/kafka.ts';
import { createClient } from './client.ts';
import { describeFailure } from './failure.ts';
import { callbackTopicNames, kafkaConnection } from './options.ts';
import type { KafkaSourceOptions, ReadAgain } from './port.ts';
import { createTopicAdmin, fetchLog } from './topic-admin.ts';

/**
 * Asks the brokers once, with the configured credentials, and changes nothing.
 * @throws GatewatchError that says what is wrong with the brokers
 */
export async function surveyKafka(kafka: KafkaConfig, signal: AbortSignal): Promise<KafkaSurvey> {
  const client = createClient({
    ...kafkaConnection(kafka),
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 1 },
  });
  const admin = client.admin();
  signal.addEventListener('abort', () => void admin.disconnect().catch(() => undefined), { once: true });
  try {
    await admin.connect();
    const { brokers } = await admin.describeCluster();
    const found = new Set(await admin.listTopics());
    const wanted = [...new Set([...callbackTopicNames(kafka), kafka.watchTopic])];
    const present = wanted.filter((topic) => found.has(topic));
    const missing = wanted.filter((topic) => !found.has(topic));
    const group = await surveyGroup(admin, kafka.groupId, present);
    return { brokers: brokers.length, present, missing, group };
  } catch (error) {
    throw describeFailure(error, kafka.brokers);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

type Admin = ReturnType<ReturnType<typeof createClient>['admin']>;

async function surveyGroup(
  admin: Admin,
  groupId: string,
  topics: readonly string[],
): Promise<KafkaSurvey['group']> {
  let lag = 0n;
  let uncommitted = 0n;
  let hasCommitted = false;
  if (topics.length === 0) return { hasCommitted, lag, uncommitted };
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
  for (const { topic, partitions } of committed) {
    const ends = new Map((await fetchLog(admin, topic)).map((end) => [end.partition, end]));
    for (const { partition, offset } of partitions) {
      const end = ends.get(partition);
      if (end === undefined) continue;
      hasCommitted ||= offset !== '-1';
      lag += BigInt(end.high) - BigInt(offset === '-1' ? end.low : offset);
      uncommitted += BigInt(end.high) - BigInt(end.stable);
    }
  }
  return { hasCommitted, lag, uncommitted };
}

/**
 * What the group has committed and the store does not know. Changes nothing.
 * @throws GatewatchError that says what is wrong with the brokers
 */
export async function findUnstored(
  kafka: KafkaConfig,
  storedEnds: NonNullable<KafkaSourceOptions['storedEnds']>,
): Promise<ReadAgain[]> {
  const topics = [...new Set([...callbackTopicNames(kafka), kafka.watchTopic])];
  const admin = createTopicAdmin({
    kafka: createClient({
      ...kafkaConnection(kafka),
      retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 1 },
    }),
    groupId: kafka.groupId,
    topics,
    fromBeginning: true,
    createTopics: undefined,
    onTopicsCreated: () => undefined,
    onPartitions: () => undefined,
  });
  try {
    return await admin.unstored((await admin.topics()).present, storedEnds);
  } catch (error) {
    throw describeFailure(error, kafka.brokers);
  } finally {
    await admin.close();
  }
}

import type { KafkaConfig } from '../../schemas/config.ts';
import { callbackTopicNames, kafkaConnection } from '../../collector/sources/kafka/options.ts';
import { createClient } from '../../collector/sources/kafka/client.ts';
import { describeFailure } from '../../collector/sources/kafka/failure.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';

const LAG_WARN = 10_000;

/**
 * Can the brokers be reached with these credentials, are the topics there, and how far behind is the group?
 */
export function kafkaCheck(kafka: KafkaConfig): Check {
  return {
    name: 'kafka',
    async run(signal) {
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
        const topics = topicFinding(kafka, wanted, present);
        const lag = await lagFinding(admin, kafka.groupId, present);
        const count = `${brokers.length} ${brokers.length === 1 ? 'broker answers' : 'brokers answer'}`;
        return [ok('kafka: brokers', `${count} at ${kafka.brokers.join(', ')}.`), topics, lag];
      } catch (error) {
        return [fail('kafka: brokers', describeFailure(error, kafka.brokers).message, '')];
      } finally {
        await admin.disconnect().catch(() => undefined);
      }
    },
  };
}

function topicFinding(kafka: KafkaConfig, wanted: readonly string[], present: readonly string[]): Finding {
  const check = 'kafka: topics';
  const missing = wanted.filter((topic) => !present.includes(topic));
  if (missing.length === 0) return ok(check, `${present.join(', ')} are there.`);
  const text = `Not there, or not visible to this user: ${missing.join(', ')}.`;
  return kafka.createTopics
    ? warn(check, text, 'The collector makes them when it starts, as createTopics is set.')
    : fail(check, text, 'Make them, or set kafka.createTopics, or check the names and the ACLs.');
}

type Admin = ReturnType<ReturnType<typeof createClient>['admin']>;

async function lagFinding(admin: Admin, groupId: string, topics: readonly string[]): Promise<Finding> {
  const check = `kafka: group ${groupId}`;
  if (topics.length === 0) return ok(check, 'Nothing to read yet.');
  const committed = await admin.fetchOffsets({ groupId, topics: [...topics] });
  let lag = 0n;
  let started = false;
  for (const { topic, partitions } of committed) {
    const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]));
    for (const { partition, offset } of partitions) {
      const end = ends.get(partition);
      if (end === undefined) continue;
      started ||= offset !== '-1';
      // Without a committed offset the group begins at the oldest record.
      const from = offset === '-1' ? end.low : offset;
      lag += BigInt(end.high) - BigInt(from);
    }
  }
  const text = started ? `${lag} records behind.` : `Has not read yet; ${lag} records wait.`;
  if (!started || lag <= BigInt(LAG_WARN)) return ok(check, text);
  return warn(
    check,
    text,
    'Is a collector running, and does the store keep up? See consumer lag in /metrics.',
  );
}

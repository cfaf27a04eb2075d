import type { KafkaConfig } from '../../schemas/config.ts';
import type { KafkaSurvey } from '../../schemas/kafka.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';

/** Asks the brokers. @throws Error that says what is wrong with them */
export type SurveyKafka = (kafka: KafkaConfig, signal: AbortSignal) => Promise<KafkaSurvey>;

const LAG_WARN = 10_000n;

/**
 * Can the brokers be reached with these credentials, do the topics exist, and how far behind is the group?
 */
export function kafkaCheck(kafka: KafkaConfig, survey: SurveyKafka): Check {
  return {
    name: 'kafka',
    async run(signal) {
      try {
        return judgeSurvey(kafka, await survey(kafka, signal));
      } catch (error) {
        return [fail('kafka: brokers', (error as Error).message, '')];
      }
    },
  };
}

export function judgeSurvey(
  kafka: KafkaConfig,
  { brokers, present, missing, group }: KafkaSurvey,
): Finding[] {
  const count = `${brokers} ${brokers === 1 ? 'broker answers' : 'brokers answer'}`;
  return [
    ok('kafka: brokers', `${count} at ${kafka.brokers.join(', ')}.`),
    topicFinding(kafka, present, missing),
    lagFinding(`kafka: group ${kafka.groupId}`, present, group),
  ];
}

function topicFinding(kafka: KafkaConfig, present: readonly string[], missing: readonly string[]): Finding {
  const check = 'kafka: topics';
  if (missing.length === 0) return ok(check, `${present.join(', ')} are there.`);
  const text = `Not there, or not visible to this user: ${missing.join(', ')}.`;
  return kafka.createTopics
    ? warn(check, text, 'The collector makes them when it starts, as createTopics is set.')
    : fail(check, text, 'Make them, or set kafka.createTopics, or check the names and the ACLs.');
}

function lagFinding(
  check: string,
  present: readonly string[],
  { hasCommitted, lag, uncommitted }: KafkaSurvey['group'],
): Finding {
  if (present.length === 0) return ok(check, 'Nothing to read yet.');
  if (uncommitted > 0n) {
    return warn(
      check,
      `${lag} records behind, ${uncommitted} of them because a transaction is open.`,
      "They come when the producer ends the transaction, or after its transaction.timeout.ms. If this stays: is a producer's process gone?",
    );
  }
  const text = hasCommitted ? `${lag} records behind.` : `Has not read yet; ${lag} records wait.`;
  if (!hasCommitted || lag <= LAG_WARN) return ok(check, text);
  const advice = 'Is a collector running, and does the store keep up? See consumer lag in /metrics.';
  return warn(check, text, advice);
}

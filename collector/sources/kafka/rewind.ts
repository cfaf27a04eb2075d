import { describeFailure } from './failure.ts';
import type { KafkaEvent, KafkaSourceOptions } from './port.ts';
import type { TopicWatch } from './watch.ts';

export type Rewind = (watch: TopicWatch, topics: readonly string[]) => Promise<void>;

/** Sessions that a member which was killed may still count as one, with the restarts in between. */
const PATIENCE = 6;

/**
 * Makes a group begin at the oldest records once, if that is asked for. The group must have no members, and one that was killed is
 * one until its session ends: throws until then. Later, somebody else works in the group, and it goes on where it is.
 */
export function createRewind(
  { rewind, brokers }: Pick<KafkaSourceOptions, 'rewind' | 'brokers'>,
  sessionTimeoutMs: number,
  now: () => number,
  emit: (event: KafkaEvent) => void,
): Rewind {
  const giveUpMs = now() + PATIENCE * sessionTimeoutMs;
  let isDue = rewind !== undefined;
  return async (watch, topics) => {
    if (!isDue) return;
    let failure: unknown = null;
    await watch.rewind(topics).catch((error: unknown) => {
      if (now() < giveUpMs) throw error;
      failure = error;
    });
    isDue = false;
    rewind?.done();
    emit({ type: 'rewound', topics, error: failure === null ? null : describeFailure(failure, brokers) });
  };
}

import type { GatewatchError } from '../../../schemas/errors.ts';
import { describeFailure } from './failure.ts';
import type { KafkaEvent, KafkaSourceOptions } from './port.ts';
import type { TopicWatch } from './watch.ts';

export type Rewind = (watch: TopicWatch, topics: readonly string[]) => Promise<void>;

/** Sessions that a member which was killed may still count as one, with the restarts in between. */
const PATIENCE = 6;

/**
 * Makes a group begin at the oldest records once, if that is asked for. The group must have no members, and
 * one that was killed is one until its session ends: throws until then. Later, somebody else works in the
 * group, and it goes on where it is. A broker that cannot be asked says nothing of that, however long it is
 * away.
 */
export function createRewind(
  { rewind, brokers }: Pick<KafkaSourceOptions, 'rewind' | 'brokers'>,
  sessionTimeoutMs: number,
  now: () => number,
  emit: (event: KafkaEvent) => void,
): Rewind {
  /** Set once the group was found to have members. */
  let giveUpMs: number | null = null;
  let isDue = rewind !== undefined;
  return async (watch, topics) => {
    if (!isDue) return;
    let failure: GatewatchError | null = null;
    await watch.rewind(topics).catch((cause: unknown) => {
      const error = describeFailure(cause, brokers);
      if (error.retryable) throw error;
      giveUpMs ??= now() + PATIENCE * sessionTimeoutMs;
      if (now() < giveUpMs) throw error;
      failure = error;
    });
    isDue = false;
    rewind?.done();
    emit({ type: 'rewound', topics, error: failure });
  };
}

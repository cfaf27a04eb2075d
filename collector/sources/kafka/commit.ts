import type { EachBatchPayload } from 'kafkajs';
import { sleep } from '../../../schemas/deadline.ts';
import { describeFailure, isLostMembership, isRebalance } from './failure.ts';
import type { Ticket } from './membership.ts';
import type { KafkaEvent } from './port.ts';

const ATTEMPTS = 4;
const FIRST_RETRY_MS = 200;

/**
 * Commits `offset` (the next one to read) for the partition of `payload`, if its `ticket` is still good. A
 * failure of the connection is tried again; one that means the group moved on is thrown, for kafkajs to join
 * again.
 */
export async function commitOffset(
  payload: EachBatchPayload,
  ticket: Ticket,
  offset: string,
  { emit, brokers }: { emit(event: KafkaEvent): void; brokers: readonly string[] },
): Promise<void> {
  const { topic, partition } = payload.batch;
  const offsets = { topics: [{ topic, partitions: [{ partition, offset }] }] };
  for (let attempt = 1; ; attempt += 1) {
    if (!ticket.isCurrent()) {
      emit({ type: 'assignment_lost', topic, partition, offset });
      return;
    }
    try {
      // kafkajs takes its generation in this very call, before anything else can run, so it is the ticket's:
      // if the group moves on meanwhile, the broker refuses the commit.
      await payload.commitOffsetsIfNecessary(offsets);
      emit({ type: 'committed', topic, partition, offset });
      return;
    } catch (error) {
      if (isLostMembership(error)) {
        emit({ type: 'assignment_lost', topic, partition, offset });
        throw error;
      }
      emit({ type: 'commit_failed', topic, partition, offset, error: describeFailure(error, brokers) });
      if (isRebalance(error) || attempt >= ATTEMPTS) throw error;
      await sleep(FIRST_RETRY_MS * 2 ** (attempt - 1));
    }
  }
}

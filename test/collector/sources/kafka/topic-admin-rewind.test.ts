import { KafkaJSNonRetriableError, KafkaJSProtocolError } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import type { KafkaEvent } from '../../../../collector/sources/kafka/port.ts';
import { createRewind } from '../../../../collector/sources/kafka/topic-admin.ts';

const SESSION_MS = 10_000;

/** As kafkajs says them. */
const HAS_MEMBERS = new KafkaJSNonRetriableError(
  'The consumer group must have no running instances, current state: Stable',
);
const NO_COORDINATOR = new KafkaJSProtocolError({
  type: 'GROUP_COORDINATOR_NOT_AVAILABLE',
  code: 15,
  retriable: true,
  message: 'The group coordinator is not available',
} as never);

/** A broker that fails so, in turn, and then does what it is asked. */
function scene(failures: Error[]) {
  let nowMs = 0;
  let done = 0;
  const events: KafkaEvent[] = [];
  const admin = {
    async rewind() {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  };
  const rewind = createRewind(
    { rewind: { done: () => (done += 1) }, brokers: ['broker:9092'] },
    SESSION_MS,
    () => nowMs,
    (event) => events.push(event),
  );
  return {
    attempt: () => rewind(admin, ['callbacks']),
    pass: (ms: number) => (nowMs += ms),
    done: () => done,
    events,
  };
}

describe('a group that is to begin at the oldest records again', () => {
  it('is made to however long the broker was away before, and was not ready then', async () => {
    const { attempt, pass, done, events } = scene([NO_COORDINATOR, NO_COORDINATOR]);
    pass(100 * SESSION_MS);
    await expect(attempt()).rejects.toThrow('coordinator');
    pass(100 * SESSION_MS);
    await expect(attempt()).rejects.toThrow('coordinator');
    expect(done()).toBe(0);
    await attempt();
    expect(done()).toBe(1);
    expect(events).toEqual([{ type: 'rewound', topics: ['callbacks'], error: null }]);
  });

  it('is waited for while a member that was killed counts as one, from when it was seen', async () => {
    const { attempt, pass, done, events } = scene([HAS_MEMBERS, HAS_MEMBERS]);
    pass(100 * SESSION_MS);
    await expect(attempt()).rejects.toThrow('no running instances');
    pass(SESSION_MS);
    await expect(attempt()).rejects.toThrow('no running instances');
    pass(SESSION_MS);
    await attempt();
    expect([done(), events.length]).toEqual([1, 1]);
  });

  it('goes on where it is when somebody else works in it', async () => {
    const { attempt, pass, done, events } = scene([HAS_MEMBERS, HAS_MEMBERS]);
    await expect(attempt()).rejects.toThrow('no running instances');
    pass(6 * SESSION_MS);
    await attempt();
    expect(done()).toBe(1);
    expect(events).toMatchObject([{ type: 'rewound', error: { code: 'kafka_protocol' } }]);
    await attempt();
    expect(done()).toBe(1);
  });
});

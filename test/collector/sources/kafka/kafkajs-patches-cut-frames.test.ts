import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startBroker, type Broker } from '../../../chaos/processes/broker.ts';
import { createKafkaTap } from '../../../chaos/wire/kafka-tap.ts';
import { openLink, type Link } from '../../../chaos/wire/link.ts';
import { useKafka } from '../../../support/kafka-broker.ts';
import { createTopic, produce, uniqueName } from '../../../support/kafka-topics.ts';
import { collect, stopAll, texts, until } from '../../../support/kafka-source.ts';

const shared = await useKafka();
const canStartOne = shared.available && shared.jars !== undefined;
const CUTS = ['Fetch', 'Heartbeat', 'OffsetCommit', 'Fetch', 'Fetch', 'Metadata', 'Heartbeat', 'Fetch'];

describe.skipIf(!canStartOne)('a connection that breaks in the middle of an answer', () => {
  let link: Link;
  let broker: Broker;
  beforeAll(async () => {
    let started: Broker | null = null;
    link = await openLink({
      name: 'to broker',
      targetPort: () => started?.doorOf(0) ?? 1,
      tap: createKafkaTap,
    });
    started = broker = await startBroker([link.port]);
  });
  afterEach(stopAll);
  afterAll(async () => {
    await link.close();
    await broker.stop();
  });

  it('leaves nothing behind that the next connection would trip over', async () => {
    const topic = await createTopic([broker.direct], uniqueName('cut'), { partitions: 2 });
    const { source, records } = collect({
      brokers: [`127.0.0.1:${link.port}`],
      topics: [topic],
      groupId: uniqueName('g'),
    });
    await source.start();
    await until('the group', () => source.status().groupState === 'stable');
    for (const [round, api] of CUTS.entries()) {
      const trap = link.trap({ moment: 'half-answer', matches: ({ name }) => name === api });
      const value = `round ${round}`;
      await produce([broker.direct], topic, [{ value }]);
      // Metadata is asked for rarely: that one may not come.
      await Promise.race([trap.sprung, new Promise((resolve) => setTimeout(resolve, 5000))]);
      trap.remove();
      await until(`the record of ${value}, after ${api} was cut`, () => texts(records).includes(value));
    }
    expect(link.counts.cuts['half-answer']).toBeGreaterThanOrEqual(CUTS.length - 1);
  });
});

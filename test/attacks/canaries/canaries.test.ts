import { describe, expect, it } from 'vitest';
import { useKafka } from '../../support/kafka-broker.ts';
import { CARDS, DISGUISES } from './disguises.ts';
import { runCanaries, sampleReplies } from './run.ts';
import { findCanaries } from './search.ts';

const kafka = await useKafka();

describe('canaries', () => {
  it('have forty disguises and more, and are found wherever one is', () => {
    expect(DISGUISES.length).toBeGreaterThanOrEqual(40);
    for (const card of CARDS) {
      for (const { write } of DISGUISES) expect(findCanaries('here', `a\t${write(card)}\tb`)).not.toEqual([]);
    }
    expect(findCanaries('replies', sampleReplies())).not.toEqual([]);
    expect(
      findCanaries('nothing', '2026-11-21T10:15:30.250Z 4.1.4.63 Success ~9.9.9.9:19:0a1b2c3d4e5f6071'),
    ).toEqual([]);
  });

  it('reach no table, topic, log, span, metric or answer through any path', async () => {
    const { found, masked, searched } = await runCanaries(2_000, kafka.available ? kafka.brokers : []);
    expect(found).toEqual([]);
    expect(Object.keys(masked)).toEqual(expect.arrayContaining(['action', 'status', 'external_id']));
    expect(searched['table history_events']).toBeGreaterThan(1_000);
    expect(searched['log']).toBeGreaterThan(1_000);
  });
});

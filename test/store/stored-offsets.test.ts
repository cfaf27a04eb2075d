import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStore, type Store } from '../../store/store.ts';
import { storedEnds } from '../../store/stored-offsets.ts';
import { type SeededStore, startSeededStore } from '../support/seed-store.ts';

let seeded: SeededStore;
let store: Store;
beforeAll(async () => {
  seeded = await startSeededStore();
  store = createStore(seeded.connection);
});
afterAll(async () => {
  await store?.close();
  await seeded?.stop();
});

const at = (minutesAgo: number): string =>
  new Date(Date.now() - minutesAgo * 60_000).toISOString().slice(0, -1);

it('knows partitions by the ledger, and by rows where the ledger no longer reaches', async () => {
  const batch = (batch_seq: number, minutesAgo: number, coordinates: string) => ({
    collector_id: 'c1',
    batch_seq,
    acknowledged_at: at(minutesAgo),
    kafka_records: 1,
    coordinates,
  });
  await seeded.seed({
    rows: {
      ingestLedger: [
        batch(1, 10_000, 'gateway.callbacks/2@0-6'),
        batch(2, 2, 'gateway.callbacks/0@0-99 gateway.orders/0@7-7'),
        batch(3, 1, 'gateway.callbacks/0@100-120 gateway.callbacks/1@5'),
      ],
      watchRequests: [
        {
          gateway: 'acme-eu',
          received_at: at(90_000),
          request_id: 'r1',
          order_type: 'Deposit',
          id_kind: 'external-id',
          order_id: 'o1',
          source: 'kafka',
          topic: 'gateway.orders',
          kafka_partition: 3,
          kafka_offset: 41,
        },
      ],
    },
  });
  const ask = async (...places: string[]) => {
    const partitions = places.map((place) => {
      const [topic = '', partition] = place.split('/');
      return { topic, partition: Number(partition) };
    });
    const ends = await storedEnds(store, partitions);
    return ends.map(({ topic, partition, next }) => `${topic}/${partition}@${next}`);
  };
  expect(await ask('gateway.callbacks/0', 'gateway.callbacks/1', 'gateway.orders/0')).toEqual([
    'gateway.callbacks/0@121',
    'gateway.callbacks/1@6',
    'gateway.orders/0@8',
  ]);
  expect(await ask('gateway.callbacks/2', 'gateway.orders/3', 'gateway.orders/9')).toEqual([
    'gateway.callbacks/2@7',
    'gateway.orders/3@42',
  ]);
});

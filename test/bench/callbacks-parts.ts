import { setImmediate as turn } from 'node:timers/promises';
import { type BODY, sign } from '../collector/decode/callback-fixtures.ts';
import {
  CALLBACKS_AN_ORDER,
  consumeOurs,
  type FilledTopic,
  fillTopic,
  withBrokers,
} from './callback-pipeline.ts';
import { consumeBare } from './callbacks.ts';
import { cpuBetween, cpuTimes, untilIdle } from './cpu.ts';
import { type BenchSink, createEncoder, withSink } from './pipeline-sink.ts';
import { median } from './result.ts';

/**
 * Callbacks a second, part by part: each way does what the one before it does and one thing more. The second
 * is the floor of whoever verifies callbacks in JavaScript, the last but one that of a store with one table
 * for callbacks and none for orders. `node test/bench/callbacks-parts.ts [rounds]`.
 */

type Way = (filled: FilledTopic, sink: BenchSink) => Promise<number>;
const NO_STORE = { query: () => Promise.resolve([]) };

const WAYS: Readonly<Record<string, Way>> = {
  'a bare kafkajs consumer': (filled) => consumeBare(filled),
  'with body parsed and signature made': (filled) =>
    consumeBare(filled, (value) => void sign(JSON.parse(value.toString()) as typeof BODY)),
  'our source, verified, decoded, as rows': (filled) =>
    consumeOurs(filled, { store: NO_STORE, write: async () => void (await turn()) }),
  'with rows that are queued and encoded': (filled) =>
    consumeOurs(filled, { store: NO_STORE, write: createEncoder() }),
  'with a store of deliveries alone, orders forgotten': (filled, { store, write }) =>
    consumeOurs(filled, {
      store,
      write: ({ callbackDeliveries = [] }, provenance) => write({ callbackDeliveries }, provenance),
    }),
  'with a store': (filled, sink) => consumeOurs(filled, sink),
};
const ORDERS = 35_000;

async function main(): Promise<void> {
  const rounds = Number(process.argv[2] ?? 5);
  await withBrokers((brokers) =>
    withSink(async (sink) => {
      const rates = new Map<string, number[]>();
      const costs = new Map<string, number[]>();
      const storeCosts = new Map<string, number[]>();
      const isStore = (pid: number): boolean => pid === sink.embedded.store.pid;
      // The first round warms up.
      for (let round = 0; round <= rounds; round += 1) {
        const filled = await fillTopic(brokers, ORDERS, round);
        for (const [name, way] of Object.entries(WAYS)) {
          const [timesBefore, before] = [cpuTimes(), process.cpuUsage()];
          const rate = await way(filled, sink);
          const { user, system } = process.cpuUsage(before);
          // What the store merges afterwards is part of the price.
          await untilIdle(sink.embedded.store.pid);
          if (round === 0) continue;
          const records = ORDERS * CALLBACKS_AN_ORDER;
          const inStore = (cpuBetween(timesBefore, cpuTimes(), isStore) * 1000) / records;
          storeCosts.set(name, [...(storeCosts.get(name) ?? []), inStore]);
          rates.set(name, [...(rates.get(name) ?? []), rate]);
          costs.set(name, [...(costs.get(name) ?? []), (user + system) / records]);
        }
      }
      for (const name of Object.keys(WAYS))
        console.log(
          `${Math.round(median(rates.get(name)))} a second, ${median(costs.get(name)).toFixed(1)} us, ` +
            `${median(storeCosts.get(name)).toFixed(1)} in the store  ${name}`,
        );
    }),
  );
}

if (import.meta.main) await main();

import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import { recoverStore } from './kill-store.ts';
import { RECOVERY_LIMIT_MS, type Fault, type Scene } from './fault.ts';

/** The store is killed and stays away. */
export function storeOutage(seconds: number): Fault {
  return {
    name: 'store outage',
    weightS: seconds + 10,
    async run(scene) {
      const { arm, main, record } = scene;
      const { store } = arm;
      if (store === null) return;
      const inserts = countInserts(scene);
      store.kill({ stayDown: true });
      let down = 0;
      let looks = 0;
      for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
        looks += 1;
        if (!(await store.isUp())) down += 1;
        await sleep(1000);
      }
      const passed = inserts.stop();
      const answered = await main.isReady();
      store.program.start();
      // Looks take a while on a busy machine; the first may meet a store that is just being killed.
      if (passed > 0 || down < looks - 1)
        record.missed('store outage', `${passed} inserts were answered, down in ${down} of ${looks} looks`);
      else
        record.happened('store outage', `no answer in ${down} looks within ${seconds} s; no insert answered`);
      if (answered) record.failed('the collector said it was ready while the store was away');
      await recoverStore(scene, 'store outage', performance.now());
    },
  };
}

function countInserts({ main }: Scene): { stop(): number } {
  let count = 0;
  let begun = false;
  // What is under way when the store is killed may still be answered.
  setTimeout(() => (begun = true), 1500);
  const forget = main.links.store?.onAnswered(({ name, status }) => {
    if (begun && name.startsWith('insert ') && status === 200) count += 1;
  });
  return {
    stop() {
      forget?.();
      return count;
    },
  };
}

/**
 * The broker is killed and stays away; or it is stopped, so that connections stay open and nothing answers.
 */
export function brokerOutage(seconds: number, how: 'killed' | 'frozen'): Fault {
  const name = `broker ${how === 'killed' ? 'outage' : 'freeze'}`;
  return {
    name,
    weightS: seconds + 10,
    async run({ arm, main, record }) {
      const since = performance.now();
      let answers = 0;
      if (how === 'killed') await arm.broker.kill();
      else arm.broker.freeze();
      await sleep(500);
      const forget = main.links.kafka.onAnswered(() => (answers += 1));
      await sleep(seconds * 1000);
      forget();
      const produced = arm.bridge.produced();
      if (how === 'killed') await arm.broker.start();
      else arm.broker.thaw();
      const seconds_ = Math.round((performance.now() - since) / 1000);
      if (answers > 0) record.missed(name, `${answers} answers of the broker passed`);
      else record.happened(name, `no answer of the broker on the wire for ${seconds_} s`);
      const backAtMs = performance.now();
      const { promise, resolve } = Promise.withResolvers<number>();
      const stop = main.links.kafka.onAnswered(({ name: what, status }) => {
        if (what === 'OffsetCommit' && status === 0) resolve(performance.now() - backAtMs);
      });
      const ms = await withDeadline(promise, RECOVERY_LIMIT_MS, () => null);
      stop();
      if (ms !== null) record.recovered(name, ms);
      else
        record.failed(
          `after ${name}: nothing was committed within ${RECOVERY_LIMIT_MS} ms (produced ${produced})`,
        );
    },
  };
}

import { PATIENCE_MS } from '../../support/until.ts';
import { until } from '../arm.ts';
import type { Fault } from './fault.ts';

/**
 * Two more collectors join the group on the same store, work for a while and leave, one in order and one by
 * SIGKILL. Each join and each end is a generation of its own.
 */
export const rebalances: Fault = {
  name: 'rebalances',
  weightS: 25,
  async run({ arm, random, record }) {
    const [, second, third] = arm.collectors;
    if (second === undefined || third === undefined) return;
    const before = arm.generations.size;
    const moved = async (what: string, change: () => unknown): Promise<void> => {
      const generations = arm.generations.size;
      const since = performance.now();
      await change();
      await until(() => arm.generations.size > generations, PATIENCE_MS, `a new generation after ${what}`);
      record.say(`${what}: a new generation after ${Math.round(performance.now() - since)} ms`);
    };
    const [leaves, dies] = random.chance(0.5) ? [second, third] : [third, second];
    try {
      await moved(`${second.name} joins`, () => second.program.start());
      await second.ready(PATIENCE_MS);
      await moved(`${third.name} joins`, () => third.program.start());
      await third.ready(PATIENCE_MS);
      await new Promise((resolve) => setTimeout(resolve, random.int(500, 3000)));
      await moved(`${leaves.name} leaves`, async () => {
        const code = await leaves.program.stop();
        if (code !== 0) record.failed(`${leaves.name} ended with ${code} after SIGTERM`);
      });
      await moved(`${dies.name} is killed`, async () => {
        dies.program.kill({ stayDown: true });
        await dies.program.ended();
      });
      if (dies.program.endings.at(-1)?.signal === 'SIGKILL')
        record.happened('kill of one collector of three', 'signal of the ended process');
    } catch (error) {
      record.missed('rebalance', (error as Error).message);
    } finally {
      await second.program.stop();
      await third.program.stop();
    }
    record.happened(
      'rebalance',
      'generations joined, as the broker answered on the wire',
      arm.generations.size - before,
    );
  },
};

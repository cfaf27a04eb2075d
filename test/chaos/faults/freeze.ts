import { readFileSync } from 'node:fs';
import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import { recoverStore } from './kill-store.ts';
import { PATIENCE_MS } from '../../support/until.ts';
import { until } from '../arm.ts';
import { RECOVERY_LIMIT_MS, type Fault, type Recorder, type Scene } from './fault.ts';

/** SIGSTOP for longer than a consumer's session: its partitions go elsewhere or wait; then SIGCONT. */
export const freezeCollector: Fault = {
  name: 'stop and continue the collector',
  weightS: 12,
  async run({ arm, main, record }) {
    const { pid } = main.program;
    const before = arm.generations.size;
    main.program.signal('SIGSTOP');
    await sleep(200);
    const state = processState(pid);
    await sleep(9000);
    main.program.signal('SIGCONT');
    if (state !== 'T') return record.missed('stop and continue the collector', `its state was ${state}`);
    record.happened('stop and continue the collector', 'state T in /proc for 9 s');
    await untilCommitted(main, record);
    record.say(`the group went through ${arm.generations.size - before} generations meanwhile`);
  },
};

/**
 * Another collector joins, the first one is stopped until the other has been given its partitions and has
 * worked with them, and goes on: with replies, orders and records that are no longer its own.
 */
export const replaceCollector: Fault = {
  name: 'replace a stopped collector',
  weightS: 25,
  async run({ arm, main, record }) {
    const other = arm.collectors[1];
    if (other === undefined) return;
    const nextGeneration = async (what: string, change: () => unknown): Promise<void> => {
      const before = arm.generations.size;
      await change();
      await until(() => arm.generations.size > before, PATIENCE_MS, `a new generation after ${what}`);
    };
    try {
      await nextGeneration('the other joins', () => other.program.start());
      await other.ready(PATIENCE_MS);
      await nextGeneration('the first is stopped', () => main.program.signal('SIGSTOP'));
      await sleep(6000);
      await nextGeneration('the first goes on', () => main.program.signal('SIGCONT'));
      record.happened('replacement of a stopped collector', 'a generation without it, on the wire');
    } catch (error) {
      record.missed('replacement of a stopped collector', (error as Error).message);
    } finally {
      main.program.signal('SIGCONT');
      await other.program.stop();
    }
  },
};

async function untilCommitted(main: Scene['main'], record: Recorder): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<true>();
  const forget = main.links.kafka.onAnswered(
    ({ name, status }) => name === 'OffsetCommit' && status === 0 && resolve(true),
  );
  const committed = await withDeadline(promise, RECOVERY_LIMIT_MS, () => null);
  forget();
  if (committed === null) record.failed('nothing was committed after the collector was continued');
}

/** SIGSTOP of the engine for longer than a request may take: inserts become ambiguous. */
export const freezeStore: Fault = {
  name: 'stop and continue the store',
  weightS: 10,
  async run(scene) {
    const { arm, record } = scene;
    const pid = arm.store?.enginePid() ?? 0;
    if (pid === 0) return;
    process.kill(pid, 'SIGSTOP');
    await sleep(200);
    const state = processState(pid);
    await sleep(7000);
    process.kill(pid, 'SIGCONT');
    if (state !== 'T') return record.missed('stop and continue the store', `its state was ${state}`);
    record.happened('stop and continue the store', 'state T in /proc for 7 s');
    await recoverStore(scene, 'stop and continue the store', performance.now());
  },
};

/** The letter of `/proc/PID/stat`: T is stopped. */
function processState(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '?';
  } catch {
    return '?';
  }
}

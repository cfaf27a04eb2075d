import { readFileSync } from 'node:fs';
import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import { recoverStore } from './kill-store.ts';
import { RECOVERY_LIMIT_MS, type Fault } from './fault.ts';

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
    const { promise, resolve } = Promise.withResolvers<true>();
    const forget = main.links.kafka.onAnswered(
      ({ name, status }) => name === 'OffsetCommit' && status === 0 && resolve(true),
    );
    const committed = await withDeadline(promise, RECOVERY_LIMIT_MS, () => null);
    forget();
    if (committed === null) record.failed('nothing was committed after the collector was continued');
    record.say(`the group went through ${arm.generations.size - before} generations meanwhile`);
  },
};

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

import { PATIENCE_MS } from '../../support/until.ts';
import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import type { Exchange, Moment } from '../wire/exchange.ts';
import { RECOVERY_LIMIT_MS, type Fault, type Scene } from './fault.ts';

const isInsert = ({ name }: Exchange): boolean => name.startsWith('insert ');

/** Both processes of `gatewatch store`, or the engine's alone, at random and around an insert. */
const WAYS: readonly { name: string; moment: Moment | null; engineOnly: boolean }[] = [
  { name: 'kill store at random', moment: null, engineOnly: false },
  { name: 'kill store in an insert', moment: 'half-request', engineOnly: false },
  { name: 'kill store after an insert', moment: 'answer', engineOnly: false },
  { name: "kill the store's engine", moment: 'half-request', engineOnly: true },
];

export const storeKills: readonly Fault[] = WAYS.map(({ name, moment, engineOnly }) => ({
  name,
  weightS: 6,
  async run(scene) {
    const { arm, main, random, record } = scene;
    const { store } = arm;
    const link = main.links.store;
    if (store === null || link === null) return;
    let engine = 0;
    let killedAtMs = 0;
    const kill = (): void => {
      killedAtMs = performance.now();
      engine = store.enginePid();
      if (engineOnly) store.killEngine();
      else store.kill();
    };
    if (moment === null) {
      await sleep(random.int(0, 3000));
      kill();
    } else {
      const trap = link.trap({ moment, matches: isInsert, fire: kill });
      const met = await withDeadline(trap.sprung, PATIENCE_MS, () => null);
      trap.remove();
      if (met === null) return record.missed(name, 'no insert passed in time');
    }
    if (!(await isGone(engine))) return record.missed(name, 'the engine went on');
    record.happened(name, 'engine process gone after SIGKILL');
    await recoverStore(scene, name, killedAtMs);
  },
}));

/** From the kill of the store until a batch is complete again. */
export async function recoverStore({ main, record }: Scene, fault: string, sinceMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const forget = main.links.store?.onAnswered(({ name, status }) => {
    if (name === 'insert ingest_ledger' && status === 200) resolve(performance.now() - sinceMs);
  });
  const ms = await withDeadline(promise, RECOVERY_LIMIT_MS, () => null);
  forget?.();
  if (ms === null) record.failed(`after ${fault}: no batch was acknowledged within ${RECOVERY_LIMIT_MS} ms`);
  else record.recovered(fault, ms);
}

async function isGone(pid: number): Promise<boolean> {
  if (pid === 0) return false;
  for (let look = 0; look < 100; look += 1) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await sleep(20);
  }
  return false;
}

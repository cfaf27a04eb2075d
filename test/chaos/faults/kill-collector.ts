import { PATIENCE_MS } from '../../support/until.ts';
import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import type { Exchange, Moment } from '../wire/exchange.ts';
import type { Link } from '../wire/link.ts';
import { recover, type Fault, type Scene } from './fault.ts';

const isInsert = ({ name }: Exchange): boolean =>
  name.startsWith('insert ') && !name.endsWith('_status_store');
const isCommit = ({ name }: Exchange): boolean => name === 'OffsetCommit';

/**
 * Where a collector is killed, by what passes the proxies at that instant: the collector itself is as it is
 * shipped, and knows of none of this.
 */
const POINTS: readonly { name: string; way: 'store' | 'kafka'; moment: Moment; matches: Trigger }[] = [
  { name: 'before the insert', way: 'store', moment: 'request', matches: isInsert },
  { name: 'in the insert', way: 'store', moment: 'half-request', matches: isInsert },
  {
    name: 'after the insert',
    way: 'store',
    moment: 'answer',
    matches: (one) => isInsert(one) && one.status === 200,
  },
  { name: 'before the commit', way: 'kafka', moment: 'request', matches: isCommit },
  {
    name: 'after the commit',
    way: 'kafka',
    moment: 'answer',
    matches: (one) => isCommit(one) && one.status === 0,
  },
];
type Trigger = (exchange: Exchange) => boolean;

/**
 * Kills at each of the points above. `before the insert` names a table now and then, so that all of them are
 * met.
 */
export const killsAtPoints: readonly Fault[] = POINTS.map((point) => ({
  name: `kill ${point.name}`,
  weightS: 6,
  async run(scene) {
    const { main, random, record } = scene;
    const link = point.way === 'store' ? main.links.store : main.links.kafka;
    if (link === null) return;
    const table = random.pick([
      '',
      '',
      'history_events',
      'callback_deliveries',
      'order_watch',
      'ingest_ledger',
    ]);
    const fault = `kill ${point.name}`;
    let matches = point.matches;
    if (point.way === 'store' && table !== '')
      matches = (one) => point.matches(one) && one.name.includes(table);
    const met = await killOnTrap(scene, link, point.moment, matches);
    if (met === null) return record.missed(fault, 'nothing of that kind passed in time');
    await confirmKill(scene, fault, `${met.name} on the wire`);
  },
}));

export const killAtRandom: Fault = {
  name: 'kill at random',
  weightS: 6,
  async run(scene) {
    const { main, random } = scene;
    await sleep(random.int(0, 4000));
    main.program.kill();
    await confirmKill(scene, 'kill at random', 'signal of the ended process');
  },
};

/**
 * Between the offset and the rows, for a collector that commits too early: what it holds of the callbacks is
 * lost then.
 */
export const killBeforeCallbacks: Fault = {
  name: 'kill before the callbacks',
  weightS: 6,
  async run(scene) {
    const { store } = scene.main.links;
    if (store === null) return;
    const isCallbacks = (one: Exchange) => isInsert(one) && one.name.includes('callback_deliveries');
    const met = await killOnTrap(scene, store, 'request', isCallbacks);
    if (met === null) return scene.record.missed('kill before the callbacks', 'no callbacks passed in time');
    await confirmKill(scene, 'kill before the callbacks', `${met.name} on the wire`);
  },
};

/** SIGTERM, then SIGKILL somewhere in the graceful end. */
export const killInShutdown: Fault = {
  name: 'kill during shutdown',
  weightS: 6,
  async run(scene) {
    const { main, random, record } = scene;
    const { store, kafka } = main.links;
    const how = random.pick(['insert', 'leave', 'timer'] as const);
    const { pid } = main.program;
    // It may come to its end first: its supervisor then starts another, which is none of ours to kill, or to
    // wait for.
    const over = main.program.ended();
    main.program.terminate();
    if (how === 'timer' || store === null) {
      await sleep(random.int(0, 150));
      if (main.program.pid === pid) main.program.kill();
    } else if (how === 'insert') {
      await killOnTrap(scene, store, random.pick(['request', 'answer']), isInsert, 3000, over);
    } else {
      await killOnTrap(scene, kafka, 'request', ({ name }) => name === 'LeaveGroup', 3000, over);
    }
    await over;
    if (main.program.endings.at(-1)?.signal !== 'SIGKILL') {
      record.missed('kill during shutdown', `it had ended before (${how})`);
      return recover(scene, 'restart', main);
    }
    await confirmKill(scene, 'kill during shutdown', `SIGTERM, then SIGKILL (${how})`);
  },
};

/**
 * Before any table is there: the first collector of a fresh store is killed in the middle of creating them.
 */
export const killInMigration: Fault = {
  name: 'kill during migration',
  weightS: 2,
  async run(scene) {
    const { main, random, record } = scene;
    const { store } = main.links;
    if (store === null) return;
    let left = random.int(1, 9);
    const isStep = ({ name }: Exchange): boolean => name === 'ddl' && (left -= 1) === 0;
    const met = killOnTrap(scene, store, random.pick(['request', 'answer']), isStep, PATIENCE_MS);
    main.program.start();
    const step = await met;
    if (step === null) return record.missed('kill during migration', 'the schema was in place before');
    await main.program.ended();
    countKill(scene, 'kill during migration', `${step.name} on the wire`);
  },
};

async function killOnTrap(
  { main }: Scene,
  link: Link,
  moment: Moment,
  matches: Trigger,
  patienceMs = PATIENCE_MS,
  over?: Promise<void>,
): Promise<Exchange | null> {
  const trap = link.trap({ moment, matches, fire: () => main.program.kill() });
  const ended = over === undefined ? [] : [over.then(() => null)];
  const met = await withDeadline(Promise.race([trap.sprung, ...ended]), patienceMs, () => null);
  trap.remove();
  return met;
}

async function confirmKill(scene: Scene, fault: string, evidence: string): Promise<void> {
  await scene.main.program.ended();
  if (countKill(scene, fault, evidence)) await recover(scene, fault, scene.main);
}

/** A kill counts when the process ended by SIGKILL. */
function countKill({ main, record }: Scene, fault: string, evidence: string): boolean {
  const ending = main.program.endings.at(-1);
  if (ending?.signal !== 'SIGKILL') {
    record.missed(fault, `the process ended with ${ending?.signal ?? ending?.code ?? 'nothing'}`);
    return false;
  }
  record.happened(fault, evidence);
  return true;
}

import { createRandom } from '../../sandbox/random.ts';
import { clockSteps, fakeClockLibrary } from './faults/clock.ts';
import { diskFull, type SmallDisk } from './faults/disk-full.ts';
import type { Fault } from './faults/fault.ts';
import { freezeCollector, freezeStore, replaceCollector } from './faults/freeze.ts';
import { killAtRandom, killInMigration, killInShutdown, killsAtPoints } from './faults/kill-collector.ts';
import { storeKills } from './faults/kill-store.ts';
import { gatewayAnswers } from './faults/gateway-answers.ts';
import { network } from './faults/network.ts';
import { brokerOutage, storeOutage } from './faults/outages.ts';
import { rebalances } from './faults/rebalance.ts';
import type { ChaosOptions, Scenario } from './options.ts';

export interface Plan {
  /** Before there is a schema. */
  readonly first: readonly Fault[];
  /** In this order, among the traffic. */
  readonly faults: readonly Fault[];
  /** What cannot be done here, with the reason. */
  readonly skipped: readonly string[];
  /** How many of them are kills. */
  readonly kills: number;
}

/** Which faults, in which order: the same for the same seed and options. */
export function planFaults(options: ChaosOptions, disk: SmallDisk | { reason: string } | null): Plan {
  const { scenarios, seed, kills, outageS } = options;
  const random = createRandom(seed, 'plan');
  const has = (name: Scenario) => scenarios.has(name);
  const skipped: string[] = [];
  const first = has('migration') ? repeat([killInMigration], Math.max(1, Math.round(kills / 10))) : [];
  const faults: Fault[] = [];
  const rounds = has('rebalances') ? options.rebalanceRounds : 0;
  // Each round of rebalances kills one, too.
  let left = Math.max(0, kills - first.length - rounds);
  if (has('store-kills')) {
    const share = has('kills') ? Math.max(1, Math.round(left * 0.3)) : left;
    faults.push(...repeat(storeKills, share));
    left -= share;
  }
  if (has('kills')) faults.push(...repeat([...killsAtPoints, killAtRandom, killInShutdown], left));
  faults.push(...repeat([rebalances], rounds));
  if (has('freeze'))
    faults.push(freezeCollector, freezeCollector, replaceCollector, freezeStore, freezeStore);
  if (has('network')) faults.push(...network);
  if (has('gateway-answers')) faults.push(...gatewayAnswers);
  if (has('store-outage')) faults.push(storeOutage(outageS));
  if (has('broker-outage')) faults.push(brokerOutage(outageS, 'killed'), brokerOutage(15, 'frozen'));
  if (has('disk-full')) {
    if (disk !== null && 'fill' in disk) faults.push(diskFull(disk));
    else skipped.push(`disk full: ${disk?.reason ?? 'no disk'}`);
  }
  if (has('clock')) {
    const library = fakeClockLibrary();
    if (library === null) skipped.push('clock steps: libfaketime is not installed (Debian: faketime)');
    else faults.push(clockSteps(library));
  }
  const hasKills = ['kills', 'store-kills', 'migration', 'rebalances'].some((name) => has(name as Scenario));
  return { first, faults: shuffle(faults, random), skipped, kills: hasKills ? kills : 0 };
}

function repeat(list: readonly Fault[], times: number): Fault[] {
  return Array.from({ length: times }, (_, index) => list[index % list.length] as Fault);
}

function shuffle<T>(list: readonly T[], random: ReturnType<typeof createRandom>): T[] {
  const shuffled = [...list];
  for (let i = shuffled.length - 1; i > 0; i -= 1) {
    const j = random.int(0, i);
    [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
  }
  return shuffled;
}

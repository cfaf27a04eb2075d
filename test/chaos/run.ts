import { createRandom } from '../../sandbox/random.ts';
import { PATIENCE_MS } from '../support/until.ts';
import type { Arm } from './arm.ts';
import { withDeadline } from '../../schemas/deadline.ts';
import type { Fault, Scene } from './faults/fault.ts';
import { killAtRandom } from './faults/kill-collector.ts';
import { swallowAnswers } from './faults/swallow.ts';
import { settle, type Unrest } from './oracle/settle.ts';
import { verify, type Verification } from './oracle/verify.ts';
import type { Progress } from './progress.ts';
import type { Records } from './recorder.ts';
import { startTraffic } from './traffic.ts';

export interface RunOptions {
  readonly events: number;
  readonly ordersPerSecond: number;
  readonly swallowed: number;
  /** Kills that must come about; what is missing is made up for at random. */
  readonly kills: number;
  /** Before there is a schema. */
  readonly first: readonly Fault[];
  readonly faults: readonly Fault[];
  readonly settleMs: number;
  /** What must have stopped moving. @default everything */
  readonly restsOn?: readonly (keyof Unrest)[];
  /** Called once the schema is in place. */
  readonly onSchema?: (arm: Arm) => Promise<void>;
}

export interface Budget {
  readonly perSecond: number;
  /** The most that it began within any second, by the times that it stored. */
  readonly begun: number;
  /**
   * The most that arrived within any second. On a busy machine the proxy is served late, and sees them
   * bunched.
   */
  readonly busiestSecond: number;
  /** The most that arrived within any ten seconds, for one second of them. */
  readonly busiestTenSeconds: number;
}

export interface RunResult {
  readonly verification: Verification;
  readonly settled: boolean;
  readonly unrest: Unrest;
  /** Endings of processes that nobody asked for. */
  readonly unasked: readonly string[];
  /** Status requests of the main collector: its limit, and the most by its own clock and on the wire. */
  readonly budget: Budget;
}

const FAULT_LIMIT_MS = 5 * PATIENCE_MS;
/** Of the sandbox: 8.5 history items, 2.9 callbacks, a watch message. */
const EVENTS_AN_ORDER = 12.4;

/** Traffic and faults side by side, then rest, then the reckoning. */
export async function run(
  arm: Arm,
  options: RunOptions,
  records: Records,
  progress: Progress,
): Promise<RunResult> {
  const main = arm.collectors[0];
  if (main === undefined) throw new TypeError('a run needs a collector');
  const scene: Scene = { arm, main, random: createRandom(arm.seed, 'faults'), record: records };
  const traffic = startTraffic(arm);
  const weight = options.faults.reduce((sum, { weightS }) => sum + weightS, 0) || 1;
  // So that there is traffic during each fault from its beginning to its end.
  const needed = (options.events / EVENTS_AN_ORDER / weight) * 1.2;
  traffic.ordersPerSecond = Math.min(options.ordersPerSecond, Math.max(1, needed));
  progress.watch(() => ({
    events: traffic.events(),
    ofEvents: options.events,
    watched: traffic.watched(),
    kills: records.countOf('kill'),
  }));

  progress.step('start');
  for (const fault of options.first) await fault.run(scene);
  main.program.start();
  await main.ready(PATIENCE_MS);
  await options.onSchema?.(arm);
  const swallow = swallowAnswers(arm, options.swallowed, records);
  let done = 0;
  for (const [index, fault] of options.faults.entries()) {
    progress.step(`${fault.name} (${index + 1} of ${options.faults.length})`);
    traffic.wanted = Math.ceil((options.events * (done + fault.weightS)) / weight);
    await withDeadline(fault.run(scene), FAULT_LIMIT_MS, () => {
      throw new Error(`${fault.name} did not come to its end`);
    });
    done += fault.weightS;
    await traffic.reach(Math.floor((options.events * done * 0.98) / weight));
  }
  for (let kills = 0; (kills = records.countOf('kill')) < options.kills;) {
    progress.step(`kill at random, as only ${kills} came about`);
    await killAtRandom.run(scene);
    if (records.countOf('kill') === kills) break;
  }
  progress.step('the rest of the traffic');
  traffic.ordersPerSecond = options.ordersPerSecond;
  traffic.wanted = options.events;
  await traffic.reach(options.events);
  traffic.stop();
  swallow.stop();
  if (swallow.count() < options.swallowed)
    records.missed('swallowed answer', `${swallow.count()} of ${options.swallowed}`);

  progress.step('coming to rest');
  const { settled, unrest } = await settle(
    arm,
    options.settleMs,
    (now) =>
      progress.step(
        `coming to rest: ${Object.entries(now)
          .map(([what, count]) => `${what} ${count}`)
          .join(', ')}`,
      ),
    options.restsOn,
  );
  if (!settled) records.failed(`it did not come to rest: ${JSON.stringify(unrest)}`);
  progress.step('reckoning');
  const unasked = unaskedEndings(arm);
  for (const ending of unasked)
    if (!ON_PURPOSE.test(ending)) records.failed(`nobody asked for it: ${ending}`);
  const verification = await verify(arm);
  const budget = {
    perSecond: arm.budgetPerSecond,
    begun: verification.polls.busiestSecond,
    busiestSecond: arm.busiestSecond(),
    busiestTenSeconds: arm.busiestTenSeconds(),
  };
  return { verification, settled, unrest, unasked, budget };
}

/** A stalled consumer ends its process on purpose; nothing else may. */
const ON_PURPOSE = /to be started anew/;

function unaskedEndings(arm: Arm): string[] {
  const programs = [...arm.collectors.map(({ program }) => program), arm.store?.program];
  return programs.flatMap((program) =>
    (program?.endings ?? [])
      .filter(({ asked }) => !asked)
      .map(
        ({ code, signal, livedMs, lastWords }) =>
          `${program?.name} ended with ${signal ?? code} after ${Math.round(livedMs / 1000)} s: ${lastWords.slice(-4).join(' | ')}`,
      ),
  );
}

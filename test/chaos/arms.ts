import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATIENCE_MS } from '../support/until.ts';
import { startArm, type ArmOptions } from './arm.ts';
import { installShadow, readShadow, type Shadow } from './control/shadow.ts';
import type { SmallDisk } from './faults/disk-full.ts';
import { mountSmallDisk } from './faults/disk-full.ts';
import { killAtRandom, killBeforeCallbacks, killInShutdown, killsAtPoints } from './faults/kill-collector.ts';
import type { ChaosOptions } from './options.ts';
import { MISCHIEF } from './oracle/bridge.ts';
import { planFaults } from './plan.ts';
import type { Progress } from './progress.ts';
import { createRecords, type Records } from './recorder.ts';
import type { ArmReport } from './report.ts';
import { run, type RunOptions } from './run.ts';

const NO_MISCHIEF = { poison: 0, duplicates: 0, resends: 0, shuffled: 0, anonymous: 0, byIntake: 0 };
const EARLY_COMMIT = fileURLToPath(new URL('control/early-commit.ts', import.meta.url));

interface Stage {
  readonly options: ChaosOptions;
  readonly folder: string;
  readonly records: Records;
  readonly progress: Progress;
}

export interface MainArm {
  readonly arm: ArmReport;
  readonly shadow: Shadow | null;
  readonly skipped: readonly string[];
  readonly kills: number;
}

/** Up to three collectors on one store, every fault there is. */
export async function runMain(stage: Stage): Promise<MainArm> {
  const { options, records } = stage;
  const storeFolder = path.join(stage.folder, 'disk');
  const disk: SmallDisk | { reason: string } | null = options.scenarios.has('disk-full')
    ? await mountSmallDisk(storeFolder)
    : null;
  const plan = planFaults(options, disk);
  const hasControl = options.scenarios.has('control');
  try {
    const arm = await startArm({
      seed: options.seed,
      folder: path.join(stage.folder, 'main'),
      collectors: 3,
      mischief: MISCHIEF,
      storeFolder: path.join(storeFolder, 'store'),
    });
    try {
      const result = await run(
        arm,
        {
          events: options.events,
          ordersPerSecond: options.ordersPerSecond,
          swallowed: options.scenarios.has('swallow') ? options.swallowed : 0,
          kills: plan.kills,
          first: plan.first,
          faults: plan.faults,
          settleMs: 300_000,
          ...(hasControl ? { onSchema: installShadow } : {}),
        },
        records,
        stage.progress,
      );
      return {
        arm: { name: 'main', ...result, faults: Object.fromEntries(records.faults) },
        shadow: hasControl ? await readShadow(arm) : null,
        skipped: plan.skipped,
        kills: plan.kills,
      };
    } finally {
      await arm.stop();
    }
  } finally {
    if (disk !== null && 'remove' in disk) await disk.remove();
  }
}

/** One collector with the store that it starts by itself. */
export async function runEmbedded(stage: Stage): Promise<ArmReport> {
  const atCommits = killsAtPoints.filter(({ name }) => name.includes('commit'));
  const records = createRecords((line) => stage.records.say(`embedded: ${line}`));
  const result = await runArm(
    { ...stage, records },
    { name: 'embedded', embedded: true, mischief: MISCHIEF },
    { events: 10_000, faults: [killAtRandom, ...atCommits, killInShutdown, killAtRandom] },
  );
  for (const failure of records.failures) stage.records.failed(`embedded: ${failure}`);
  return { name: 'embedded store', ...result, faults: Object.fromEntries(records.faults) };
}

/**
 * Ten thousand orders and no fault: what an order's history takes in reads, within a budget that is less than
 * the demand.
 */
export async function runUndisturbed(stage: Stage): Promise<ArmReport> {
  const records = createRecords((line) => stage.records.say(`undisturbed: ${line}`));
  const result = await runArm(
    { ...stage, records },
    { name: 'undisturbed', mischief: NO_MISCHIEF, budgetPerSecond: UNDISTURBED.budgetPerSecond },
    { events: UNDISTURBED.events, faults: [], settleMs: PATIENCE_MS },
  );
  for (const failure of records.failures) stage.records.failed(`undisturbed: ${failure}`);
  return { name: 'undisturbed', ...result, faults: {} };
}

/** Events of 10,000 orders without mischief, and a bit. */
const UNDISTURBED = { events: 126_000, budgetPerSecond: 150 };

/**
 * The protection switched off: the offset is committed first. Returns how many callbacks are missing then.
 */
export async function runEarlyCommit(stage: Stage): Promise<number> {
  const records = createRecords(() => undefined);
  const { verification } = await runArm(
    { ...stage, records },
    { name: 'early-commit', mischief: NO_MISCHIEF, env: { NODE_OPTIONS: `--import=${EARLY_COMMIT}` } },
    // Orders whose callbacks were lost never come to rest; what counts is that every record was read.
    {
      events: stage.options.isShort ? 500 : 1200,
      faults: Array.from({ length: stage.options.isShort ? 2 : 3 }, () => killBeforeCallbacks),
      settleMs: PATIENCE_MS,
      restsOn: ['bridgePending', 'lag'],
    },
  );
  const callbacks = verification.tallies.find(({ what }) => what === 'callback deliveries');
  return callbacks?.lost ?? 0;
}

async function runArm(
  { options, folder, records, progress }: Stage,
  arm: { name: string } & Pick<ArmOptions, 'mischief'> & Partial<ArmOptions>,
  what: Pick<RunOptions, 'events' | 'faults'> & Partial<RunOptions>,
) {
  const started = await startArm({
    collectors: 1,
    ...arm,
    seed: `${options.seed}-${arm.name}`,
    folder: path.join(folder, arm.name),
  });
  try {
    return await run(
      started,
      {
        ordersPerSecond: options.ordersPerSecond,
        swallowed: 0,
        kills: 0,
        first: [],
        settleMs: PATIENCE_MS,
        ...what,
      },
      records,
      progress,
    );
  } finally {
    await started.stop();
  }
}

import { cpus } from 'node:os';
import type { Shadow } from './control/shadow.ts';
import type { ChaosOptions } from './options.ts';
import { isClean, type Tally } from './oracle/tally.ts';
import type { Verification } from './oracle/verify.ts';
import type { FaultRecord, Records } from './recorder.ts';
import type { Budget, RunResult } from './run.ts';

export interface ArmReport extends RunResult {
  readonly name: string;
  readonly faults: Readonly<Record<string, FaultRecord>>;
}

export interface ChaosReport {
  readonly verdict: 'passed' | 'failed';
  readonly failures: readonly string[];
  readonly seed: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: { readonly cores: number; readonly node: string };
  readonly kills: number;
  readonly recoveryMs: Percentiles;
  readonly recoveryAfterKillMs: Percentiles;
  readonly arms: readonly ArmReport[];
  readonly control: {
    readonly shadow: Shadow | null;
    /** Callbacks lost when the offset is committed before the rows are stored; null: not run. */
    readonly earlyCommitLost: number | null;
  };
  readonly skipped: readonly string[];
}

export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

export interface Findings {
  readonly options: ChaosOptions;
  readonly startedAt: Date;
  readonly records: Records;
  /** Kills that were promised. */
  readonly kills: number;
  readonly arms: readonly ArmReport[];
  readonly shadow: Shadow | null;
  readonly earlyCommitLost: number | null;
  readonly skipped: readonly string[];
}

/**
 * Where faults hold requests up on their way, or the clock is set, they arrive closer together than they were
 * sent.
 */
const FAULT_SLACK = 1.2;
/**
 * Requests that arrive ten seconds after one another must not be more than the budget, but for what was held
 * up at the edges.
 */
const WIRE_SLACK = 1.05;

function overBudget(
  name: string,
  { perSecond, begun, busiestSecond, busiestTenSeconds }: Budget,
): string | null {
  if (name !== 'undisturbed')
    return busiestSecond > perSecond * FAULT_SLACK ? `${busiestSecond} reads arrived in a second` : null;
  if (begun > perSecond) return `${begun} reads begun in a second`;
  return busiestTenSeconds > perSecond * WIRE_SLACK
    ? `${busiestTenSeconds} reads a second over ten seconds`
    : null;
}

/** Judges a run: what was lost or counted twice, and whether the faults that were promised came about. */
export function makeReport(findings: Findings): ChaosReport {
  const { options, records, arms, shadow, earlyCommitLost } = findings;
  const failures = [...records.failures];
  const kills = records.countOf('kill');
  for (const { name, verification, budget } of arms) {
    const over = overBudget(name, budget);
    if (over !== null) failures.push(`${name}: ${over}, over the budget of ${budget.perSecond}`);
    for (const tally of verification.tallies)
      if (!isClean(tally)) failures.push(`${name}: ${describe(tally)}`);
  }
  if (kills < findings.kills) failures.push(`${kills} kills of ${findings.kills} came about`);
  for (const [name, { happened, missed, why }] of records.faults) {
    if (happened === 0) failures.push(`${name} never came about (${missed} tries: ${why.join('; ')})`);
  }
  if (shadow !== null && shadow.historyDuplicates + shadow.callbackDuplicates === 0)
    failures.push('without protection there were no duplicates either: the run tested nothing');
  if (earlyCommitLost === 0)
    failures.push('with commits before the insert nothing was lost either: the run tested nothing');
  return {
    verdict: failures.length === 0 ? 'passed' : 'failed',
    failures,
    seed: options.seed,
    options: { ...options, scenarios: [...options.scenarios], jsonFile: undefined },
    startedAt: findings.startedAt.toISOString(),
    seconds: Math.round((Date.now() - findings.startedAt.getTime()) / 1000),
    machine: { cores: cpus().length, node: process.version },
    kills,
    recoveryMs: percentiles(records.recoveries.map(({ ms }) => ms)),
    recoveryAfterKillMs: percentiles(
      records.recoveries.filter(({ fault }) => fault.startsWith('kill')).map(({ ms }) => ms),
    ),
    arms,
    control: { shadow, earlyCommitLost },
    skipped: findings.skipped,
  };
}

function describe(tally: Tally): string {
  const { what, lost, duplicated, altered, outOfOrder, examples } = tally;
  return `${what}: ${lost} lost, ${duplicated} duplicated, ${altered} altered, ${outOfOrder} out of order (${examples.slice(0, 3).join('; ')})`;
}

/** The report for people. */
export function printReport(report: ChaosReport): string {
  const lines: string[] = [''];
  for (const arm of report.arms) {
    lines.push(
      `${arm.name}: ${acceptedLine(arm.verification)}; at most ${arm.budget.begun} begun and ${arm.budget.busiestSecond} arrived in a second (${arm.budget.busiestTenSeconds} over ten), of ${arm.budget.perSecond} allowed`,
      '',
    );
    const head = ['', 'expected', 'stored', 'lost', 'duplicated', 'altered', 'out of order'];
    lines.push(
      ...table([
        head,
        ...arm.verification.tallies.map((tally) => [
          tally.what,
          ...[
            tally.expected,
            tally.stored,
            tally.lost,
            tally.duplicated,
            tally.altered,
            tally.outOfOrder,
          ].map((n) => n.toLocaleString('en')),
        ]),
      ]),
      '',
    );
    const faults = Object.entries(arm.faults).toSorted(([a], [b]) => a.localeCompare(b));
    if (faults.length > 0)
      lines.push(
        ...table([
          ['fault', 'happened', 'seen by'],
          ...faults.map(([name, { happened, evidence, why }]) => [
            name,
            happened.toLocaleString('en'),
            evidence[0] ?? why[0] ?? '',
          ]),
        ]),
        '',
      );
    for (const ending of arm.unasked) lines.push(`unasked: ${ending}`);
  }
  const { recoveryAfterKillMs: after, control } = report;
  lines.push(
    `recovery after a kill: p50 ${after.p50} ms, p99 ${after.p99} ms, longest ${after.max} ms (${after.count} measured)`,
  );
  if (control.shadow !== null)
    lines.push(
      `control, same inserts without identity and token: ${control.shadow.historyDuplicates} history items and ${control.shadow.callbackDuplicates} callbacks twice`,
    );
  if (control.earlyCommitLost !== null)
    lines.push(`control, offsets committed before the insert: ${control.earlyCommitLost} callbacks lost`);
  for (const reason of report.skipped) lines.push(`skipped: ${reason}`);
  for (const failure of report.failures) lines.push(`FAILED: ${failure}`);
  lines.push(
    '',
    `${report.verdict} after ${report.seconds} s, ${report.kills} kills; seed ${report.seed} (replay: npm run chaos -- --seed ${report.seed})`,
  );
  return `${lines.join('\n')}\n`;
}

function acceptedLine({ accepted, mischief, polls }: Verification): string {
  const n = (value: number) => value.toLocaleString('en');
  const poison = Object.values(mischief.poison).reduce((sum, count) => sum + count, 0);
  return [
    `${n(accepted.events)} events of ${n(accepted.orders)} orders`,
    `${n(accepted.historyItems)} history items`,
    `${n(accepted.callbackRecords)} callback and ${n(accepted.watchRecords)} watch records in Kafka`,
    `among them ${n(poison)} of poison, ${n(mischief.duplicates)} written twice, ${n(mischief.resends)} sent again, ${n(mischief.outOfPlace)} out of place`,
    `${n(polls.rows)} reads, ${polls.perOrderMedian} an order (p99 ${polls.perOrderP99})`,
  ].join('; ');
}

/** Columns side by side; all but the first and the last line up on the right. */
function table(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const isText = (at: number) => at === 0 || (at === columns - 1 && columns === 3);
  return rows.map((row) =>
    row
      .map((cell, at) => (isText(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

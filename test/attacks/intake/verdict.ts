import type { IntakeAttackReport, Rows } from './run.ts';

/** Resident memory of the collector may be this much at most, without the store's engine. */
const MAX_MEMORY_MB = 600;
const MAX_P99_MS = 1_000;

/** What of the promises did not hold, however busy the machine is; empty when all did. */
export function failuresOf(report: IntakeAttackReport): string[] {
  const { good, observed, verdicts } = report;
  const others = Object.entries(good.answers).filter(([status]) => status !== '200' && status !== '503');
  const wrongRows = Object.entries(verdicts).filter(([, rows]) => !isRight(rows));
  return [
    ...report.wrongAnswers.map((text) => `an answer that is not the message's: ${text}`),
    ...others.map(([status, n]) => `${n} signed callbacks were answered with ${status}`),
    ...(report.lost > 0 ? [`${report.lost} signed callbacks were lost`] : []),
    ...wrongRows.map(([verdict, rows]) => `${verdict}: ${JSON.stringify(rows)}`),
    ...(observed.memoryMb.most > MAX_MEMORY_MB ? [`${observed.memoryMb.most} MiB of memory`] : []),
  ];
}

/**
 * What of the promises about time did not hold: for a machine that has nothing else to do. On a busy one the
 * store is late, and 503 and `/readyz` say so.
 */
export function delaysOf({ good, observed, verdicts }: IntakeAttackReport): string[] {
  const unsure = Object.values(verdicts).reduce((sum, rows) => sum + rows.unsure, 0);
  return [
    ...(good.latencyMs.p99 > MAX_P99_MS ? [`signed callbacks took ${good.latencyMs.p99} ms at p99`] : []),
    ...Object.entries(observed.notReady).map(([status, n]) => `/readyz answered ${status} ${n} times`),
    ...(unsure > 0 ? [`${unsure} callbacks were answered with 503`] : []),
  ];
}

const isRight = ({ expected, unsure, stored }: Rows): boolean =>
  stored >= expected && stored <= expected + unsure;

import type { IntakeAttackReport } from './run.ts';

/** Resident memory of the collector may be this much at most, without the store's engine. */
const MAX_MEMORY_MB = 600;
const MAX_P99_MS = 1_000;

/**
 * What of the promises did not hold; empty when all did.
 * @param maxP99Ms how long signed callbacks may take: more for a test on a machine that is busy with others
 */
export function failuresOf(report: IntakeAttackReport, maxP99Ms = MAX_P99_MS): string[] {
  const { good, observed, verdicts } = report;
  const others = Object.entries(good.answers).filter(([status]) => status !== '200');
  const wrongRows = Object.entries(verdicts).filter(([, { expected, stored }]) => expected !== stored);
  return [
    ...report.wrongAnswers.map((text) => `an answer that is not the message's: ${text}`),
    ...others.map(([status, n]) => `${n} signed callbacks were answered with ${status}`),
    ...(good.latencyMs.p99 > maxP99Ms ? [`signed callbacks took ${good.latencyMs.p99} ms at p99`] : []),
    ...(report.lost > 0 ? [`${report.lost} signed callbacks were lost`] : []),
    ...wrongRows.map(([verdict, rows]) => `${verdict}: ${rows.stored} rows instead of ${rows.expected}`),
    ...Object.entries(observed.notReady).map(([status, n]) => `/readyz answered ${status} ${n} times`),
    ...(observed.memoryMb.most > MAX_MEMORY_MB ? [`${observed.memoryMb.most} MiB of memory`] : []),
  ];
}

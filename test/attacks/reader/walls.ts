import type { Wall } from '../../../store/embedded/child-protocol.ts';
import {
  areFilesSafe,
  attackReader,
  HAND_MADE,
  type ReaderAttackOptions,
  type ReaderAttackReport,
} from './run.ts';

/**
 * Each wall by itself has to hold what it is there for: which are taken away, and the share of the
 * statements.
 */
export const RUNS: readonly { readonly withoutWalls: readonly Wall[]; readonly share: number }[] = [
  { withoutWalls: [], share: 0.5 },
  { withoutWalls: ['sandbox'], share: 0.2 },
  { withoutWalls: ['gate'], share: 0.2 },
  { withoutWalls: ['gate', 'sandbox'], share: 0.1 },
];

/**
 * Attacks a store with all walls, then stores without one or two of them. @param statements in all runs
 * together
 */
export async function attackEachWall(
  statements: number,
  options: Omit<ReaderAttackOptions, 'mutations' | 'withoutWalls'>,
): Promise<ReaderAttackReport[]> {
  const reports: ReaderAttackReport[] = [];
  for (const { withoutWalls, share } of RUNS) {
    const without = withoutWalls.length === 0 ? 'with all walls' : `without ${withoutWalls.join(' and ')}`;
    options.say(without);
    const mutations = Math.max(0, Math.round(statements * share) - HAND_MADE.length);
    const report = await attackReader({ ...options, mutations, withoutWalls });
    options.say(JSON.stringify(report));
    reports.push(report);
  }
  return reports;
}

export function isClean({
  succeeded,
  forbiddenCalls,
  notWatched,
  restarts,
  withoutWalls,
}: ReaderAttackReport): boolean {
  const touchesNothing = !areFilesSafe(withoutWalls) || forbiddenCalls?.length === 0;
  return succeeded.length === 0 && touchesNothing && notWatched === null && restarts === 0;
}

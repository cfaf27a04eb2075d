import { type Alert, alertOf } from '../explain/alert.ts';
import type { PageSettings } from '../explain/page.ts';
import { RULES } from '../rules/all.ts';
import { advance, isFiring, RESOLVED_RETENTION_MS, type RuleMemory } from './alert-state.ts';
import { ruleTiming } from './timing.ts';

/** Without a newly evaluated instant for longer than this, and at two looks, somebody is notified. */
const LATE_SECONDS = 240;
/** After a pause of this process it is late at one look, and not at the next. */
const PENDING_SECONDS = 60;

/** How far the evaluation has come, and when that is. */
export interface Progress {
  /** The newest instant whose evaluations are stored; null: none is known. */
  readonly newestAsOfMs: number | null;
  /** Since 1970. */
  readonly wallMs: number;
  readonly steadyMs: number;
}

/**
 * The alert GatewatchEvaluationsLate, as the collector itself raises it: no evaluation can say that there are
 * none. It needs no store. Empty while evaluations are in time.
 */
export function createLateAlert(
  page: PageSettings,
  startedSteadyMs: number,
): (progress: Progress) => Alert[] {
  const rule = RULES.find(({ name }) => name === 'GatewatchEvaluationsLate');
  if (rule === undefined) throw new Error('no rule says that evaluations are late');
  const timing = { ...ruleTiming(rule), forMs: PENDING_SECONDS * 1000, keepFiringForMs: 0 };
  let memory: RuleMemory = new Map();
  let known: number | null = null;
  let knownSince = startedSteadyMs;
  return ({ newestAsOfMs, wallMs, steadyMs }) => {
    if (newestAsOfMs !== known) [known, knownSince] = [newestAsOfMs, steadyMs];
    const number = (steadyMs - knownSince) / 1000;
    const values = { as_of: wallMs / 1000, window_from: wallMs / 1000, window_to: wallMs / 1000 };
    const instance = {
      labels: {},
      firing: number > LATE_SECONDS,
      values: { ...values, number, limit: LATE_SECONDS },
    };
    memory = advance(timing, memory, { kind: 'instances', instances: [instance] }, wallMs).memory;
    return [...memory.values()]
      .filter(
        ({ state, resolvedAt }) => isFiring(state) || wallMs - (resolvedAt ?? 0) <= RESOLVED_RETENTION_MS,
      )
      .flatMap((alert) => alertOf(rule, alert, page) ?? []);
  };
}

import type { Episode, InstanceReplay, RuleReplay } from './replay.ts';

const WEEK_MS = 7 * 86_400_000;

/** What all replays come to. Times are ISO 8601, UTC. */
export interface BacktestReport {
  readonly from: string;
  readonly to: string;
  /** Evaluations that were stored, and those that were counted anew, of all rules. */
  readonly read: number;
  readonly recounted: number;
  readonly rules: readonly RuleSummary[];
}

export function reportOf(
  rules: readonly RuleSummary[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): BacktestReport {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    read: rules.reduce((sum, { read }) => sum + read, 0),
    recounted: rules.reduce((sum, { recounted }) => sum + recounted, 0),
    rules,
  };
}

/** What a replay comes to. Times are ISO 8601, UTC. */
export interface RuleSummary {
  readonly rule: string;
  readonly uid: string;
  readonly severity: string;
  readonly summary: string;
  readonly stepSeconds: number;
  readonly evaluations: number;
  /** Why it was not judged: no setting switches it on, or nothing is known at any instant; null: it was. */
  readonly notJudged: 'switched_off' | 'no_data' | null;
  /** Of these, how many were stored, and how many were counted anew. */
  readonly read: number;
  readonly recounted: number;
  /** Alerts that reached someone. */
  readonly pages: number;
  readonly pagesPerWeek: number;
  /** Alerts that ended before they had been pending long enough. */
  readonly endedWhilePending: number;
  readonly labelSets: readonly LabelSetSummary[];
}

export interface LabelSetSummary {
  readonly labels: Readonly<Record<string, string>>;
  readonly pages: number;
  readonly firingSeconds: number;
  readonly alerts: readonly AlertSummary[];
}

export interface AlertSummary {
  readonly pendingAt: string;
  readonly firedAt: string;
  /** Null: still firing at the end. */
  readonly resolvedAt: string | null;
  readonly seconds: number;
  readonly values: Readonly<Record<string, number | null>>;
}

export function summarize(
  replay: RuleReplay,
  stepMs: number,
  recounted: number,
  isOff: boolean,
): RuleSummary {
  const { rule, instantsMs, instances } = replay;
  const endMs = instantsMs.at(-1) ?? 0;
  const spanMs = Math.max(instantsMs.length * stepMs, stepMs);
  const labelSets = instances.map((instance) => labelSet(instance, endMs));
  const pages = labelSets.reduce((sum, one) => sum + one.pages, 0);
  return {
    rule: rule.name,
    uid: rule.uid,
    severity: rule.severity,
    summary: rule.summary,
    stepSeconds: stepMs / 1000,
    evaluations: instantsMs.length,
    notJudged: isOff ? 'switched_off' : instances.length === 0 ? 'no_data' : null,
    read: instantsMs.length - recounted,
    recounted,
    pages,
    pagesPerWeek: Number(((pages * WEEK_MS) / spanMs).toFixed(2)),
    endedWhilePending: instances.reduce(
      (sum, { episodes }) =>
        sum +
        episodes.filter((episode) => episode.firedAtMs === null && episode.resolvedAtMs !== null).length,
      0,
    ),
    labelSets,
  };
}

function labelSet({ labels, episodes }: InstanceReplay, endMs: number): LabelSetSummary {
  const alerts = episodes.flatMap((episode) => alertOf(episode, endMs));
  const firingSeconds = alerts.reduce((sum, alert) => sum + alert.seconds, 0);
  return { labels, pages: alerts.length, firingSeconds, alerts };
}

function alertOf({ pendingAtMs, firedAtMs, resolvedAtMs, values }: Episode, endMs: number): AlertSummary[] {
  if (firedAtMs === null) return [];
  const iso = (ms: number): string => new Date(ms).toISOString();
  return [
    {
      pendingAt: iso(pendingAtMs),
      firedAt: iso(firedAtMs),
      resolvedAt: resolvedAtMs === null ? null : iso(resolvedAtMs),
      seconds: ((resolvedAtMs ?? endMs) - firedAtMs) / 1000,
      values,
    },
  ];
}

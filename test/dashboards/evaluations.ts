import type { AlertRuleName } from '../../schemas/names.ts';
import { dateTime64 } from '../support/seed-store.ts';
import { MINUTE, randomFrom } from './traffic.ts';

/** Rows of evaluations and of alert states, as a collector writes them. Times in epoch milliseconds. */

export interface Evaluated {
  readonly rule: AlertRuleName;
  readonly gateway: string;
  readonly asOf: number;
  /** @default share */
  readonly kind?: 'share' | 'drop' | 'gauge';
  /** @default none */
  readonly label?: string;
  readonly seen?: number;
  readonly affected?: number;
  readonly limit: number;
  /** @default none: of a share, affected out of seen */
  readonly expected?: number;
  readonly number?: number;
  readonly suppressedBy?: string;
  /** @default 900 */
  readonly windowSeconds?: number;
  /** @default half a minute before the instant */
  readonly windowTo?: number;
  /** @default two seconds after the instant */
  readonly evaluatedAt?: number;
  readonly evaluator?: string;
  readonly tookMs?: number;
}

export function evaluationRow(one: Evaluated): object {
  const { kind = 'share', seen = 0, affected = 0, expected, limit, suppressedBy = '', asOf } = one;
  const windowTo = kind === 'gauge' ? asOf : (one.windowTo ?? asOf - 30_000);
  const length = kind === 'gauge' ? 0 : (one.windowSeconds ?? 900) * 1000;
  const of = kind === 'drop' ? (expected ?? 0) : seen;
  const found =
    kind === 'gauge' ? (one.number ?? 0) > limit : kind === 'drop' ? affected <= limit : affected >= limit;
  return {
    rule: one.rule,
    kind,
    gateway: one.gateway,
    label: one.label ?? '',
    as_of: dateTime64(asOf).slice(0, 19),
    window_from: dateTime64(windowTo - length),
    window_to: dateTime64(windowTo),
    seen,
    affected,
    expected: expected ?? null,
    limit,
    share: kind === 'gauge' || of === 0 ? null : affected / of,
    number: one.number ?? null,
    breach: Number(found && suppressedBy === ''),
    suppressed_by: suppressedBy,
    definition: 'seed',
    evaluated_at: dateTime64(one.evaluatedAt ?? asOf + 2000),
    evaluator: one.evaluator ?? 'collector-1',
    took_ms: one.tookMs ?? 800,
  };
}

export interface AlertSeen {
  readonly rule: AlertRuleName;
  readonly severity?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'Normal' | 'Pending' | 'Alerting' | 'Recovering';
  readonly changedAt: number;
  readonly evaluatedAt: number;
  readonly firingSince?: number;
}

export const stateRow = (one: AlertSeen): object => ({
  rule_uid: one.rule,
  rule: one.rule,
  severity: one.severity ?? 'critical',
  gateway: one.labels['gateway'] ?? '',
  labels: JSON.stringify(one.labels),
  changed_at: dateTime64(one.changedAt),
  evaluated_at: dateTime64(one.evaluatedAt),
  state: one.state,
  firing_since: one.firingSince === undefined ? null : dateTime64(one.firingSince),
  collector_id: 'collector-1',
});

/** What a gateway's configuration says: one whole set. */
export const settingRows = (
  gateway: string,
  configuredAt: number,
  settings: Readonly<Record<string, number>>,
): object[] =>
  Object.entries({ '/set': 1, ...settings }).map(([key, value]) => {
    const [rule = '', ...setting] = key.split('/');
    return { gateway, rule, setting: setting.join('/'), value, configured_at: dateTime64(configuredAt) };
  });

const SEEDED: readonly (readonly [AlertRuleName, string])[] = [
  ['GatewatchTechTimeouts', 'GATEWAY_CREATE'],
  ['GatewatchTechTimeouts', 'CHECK'],
  ['GatewatchAuthzFailures', 'GATEWAY_CREATE'],
  ['GatewatchAuthzFailures', 'CHECK'],

  ['GatewatchSignatureMismatches', ''],
  ['GatewatchCallbackKeyBroken', ''],
  ['GatewatchForgedCallbacks', ''],
  ['GatewatchMerchantCallbackMissing', 'SUCCESS'],
  ['GatewatchSlow', '1 min'],
];

/** What the rules saw in each minute of the range: numbers that follow from the minute. */
export function evaluatedMinutes(gateways: readonly string[], from: number, to: number): Evaluated[] {
  const random = randomFrom(11);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  return Array.from({ length: Math.floor((to - from) / MINUTE) }, (_, n) => from + n * MINUTE).flatMap(
    (asOf) =>
      gateways.flatMap((gateway): Evaluated[] => [
        ...SEEDED.map(([rule, label]) => {
          const seen = upTo(200);
          return {
            rule,
            gateway,
            label,
            asOf,
            seen,
            affected: upTo(Math.floor(seen / 8)),
            limit: 5 + upTo(20),
          };
        }),
        { rule: 'GatewatchCollectorSilent', kind: 'gauge', gateway, asOf, number: upTo(20), limit: 120 },
      ]),
  );
}

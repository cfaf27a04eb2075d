import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { PROMETHEUS_RULES, prometheusFiles } from '../../../alerts/prometheus/files.ts';
import { RULES } from '../../../alerts/rules/all.ts';
import { readFileSync } from 'node:fs';

const OUT = fileURLToPath(new URL('../../../alerts/out/prometheus', import.meta.url));
const FILES = ['gatewatch-recording.yaml', 'gatewatch-alerts.yaml'].map((name) => `${OUT}/${name}`);
const HAS_PROMTOOL = existsSync('/usr/bin/promtool');
const promtool = (...args: string[]): string =>
  execFileSync('/usr/bin/promtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Shipped {
  readonly groups: readonly { readonly rules: readonly Record<string, unknown>[] }[];
}
const shipped = FILES.flatMap((file) => (parse(readFileSync(file, 'utf8')) as Shipped).groups);

describe('rule files for Prometheus', () => {
  it('say what the rules say: name, severity, side, texts, runbook', () => {
    const alerts = shipped.flatMap(({ rules }) => rules).filter((rule) => 'alert' in rule);
    expect(alerts.map(({ alert }) => alert)).toEqual(PROMETHEUS_RULES);
    for (const alert of alerts) {
      const rule = RULES.find(({ name }) => name === alert['alert']);
      expect(alert).toMatchObject({
        for: `${rule?.pendingSeconds}s`,
        labels: { severity: rule?.severity, side: rule?.side, service: 'gatewatch' },
        annotations: { summary: rule?.summary, runbook_url: expect.stringContaining('gatewatch-runbooks') },
      });
    }
  });

  it('refuse a rule that counts what payment metrics do not have', () => {
    const other = RULES.map((rule) =>
      rule.name === 'GatewatchTechTimeouts' && rule.kind === 'share'
        ? { ...rule, count: { ...rule.count, counts: [{ label: 'x', hit: "outcome = 'succeeded'" }] } }
        : rule,
    );
    expect(() => prometheusFiles(other, String)).toThrow('GatewatchTechTimeouts does not count reasons');
  });
});

/** A counter of two collectors: both show the same, and the second one ends. */
const counter = (name: string, labels: string, values: string) => [
  { series: `${name}{instance="a", ${labels}}`, values },
  { series: `${name}{instance="b", ${labels}}`, values },
];
const at = (stage: string, more = '') => `gateway="acme-eu", order_type="Deposit", stage="${stage}"${more}`;
const because = (stage: string, group: string, detail: string) =>
  at(stage, `, reason_group="${group}", reason_detail="${detail}"`);
const stage = 'gatewatch_payment_stage_orders_total';
const failures = 'gatewatch_payment_failures_total';
const counting = counter('gatewatch_payment_counted_to_timestamp_seconds', 'job="gatewatch"', '0+60x60');

interface Scene {
  readonly series: readonly { readonly series: string; readonly values: string }[];
  /** Alerts that fire, by minute. */
  readonly fires: Readonly<Record<number, readonly string[]>>;
}

/** Twenty orders a minute, from the tenth minute on with failures. */
const SCENES: Readonly<Record<string, Scene>> = {
  'a healthy gateway': {
    series: [
      ...counting,
      ...counter(stage, at('CHECK'), '0+20x60'),
      ...counter(failures, because('CHECK', 'TECH', 'TIMEOUT'), '0+0x60'),
    ],
    fires: { 30: [] },
  },
  'orders that time out, for a quarter of an hour': {
    series: [
      ...counting,
      ...counter(stage, at('CHECK'), '0+20x60'),
      ...counter(failures, because('CHECK', 'TECH', 'TIMEOUT'), '0x10 6+6x14 90x40'),
    ],
    fires: { 10: [], 20: ['GatewatchTechTimeouts CHECK'], 45: [] },
  },
  'a series that comes with its first failures': {
    series: [
      ...counting,
      ...counter(stage, at('GATEWAY_CREATE'), '0+20x60'),
      ...counter(failures, because('GATEWAY_CREATE', 'AUTHZ', '401_UNAUTHORIZED'), '_x10 6+6x40'),
    ],
    fires: { 18: ['GatewatchAuthzFailures GATEWAY_CREATE'] },
  },
  'callbacks whose signature does not match': {
    series: [
      ...counting,
      ...counter(stage, at('GATEWAY_CALLBACK'), '0+20x60'),
      ...counter(failures, because('GATEWAY_CALLBACK', 'TECH', 'INVALID_SIGNATURE'), '0x10 3+3x40'),
    ],
    fires: { 20: ['GatewatchSignatureMismatches GATEWAY_CALLBACK'] },
  },
  'a Prometheus that is new, and totals of years': {
    series: [
      ...counter('gatewatch_payment_counted_to_timestamp_seconds', 'job="gatewatch"', '_x10 600+60x50'),
      ...counter(stage, at('CHECK'), '_x10 100000+20x50'),
      ...counter(failures, because('CHECK', 'TECH', 'TIMEOUT'), '_x10 90000+0x50'),
    ],
    fires: { 14: [], 30: [] },
  },
  'nobody who counts': {
    series: [
      ...counter('gatewatch_payment_counted_to_timestamp_seconds', 'job="gatewatch"', '0+60x10 600x50'),
      ...counter(stage, at('CHECK'), '0+20x10 200x50'),
    ],
    fires: { 10: [], 20: ['GatewatchEvaluationsLate '] },
  },
};

describe.skipIf(!HAS_PROMTOOL)("Prometheus' own tool", () => {
  it('accepts the files', () => {
    expect(promtool('check', 'rules', ...FILES)).toMatch(
      /SUCCESS: \d+ rules found[\s\S]*SUCCESS: \d+ rules found/,
    );
  });

  it.each(Object.entries(SCENES))('judges %s', (name, { series, fires }) => {
    const rules = shipped.flatMap((group) => group.rules).filter((rule) => 'alert' in rule);
    const expected = Object.entries(fires).flatMap(([minute, firing]) =>
      PROMETHEUS_RULES.map((alertname) => ({
        eval_time: `${minute}m`,
        alertname,
        exp_alerts: firing
          .filter((one) => one.startsWith(`${alertname} `))
          .map((one) => one.split(' ')[1] ?? ''),
      })),
    );
    // Values and texts follow from the series: which alerts fire is what is judged, as their series say it.
    const tests = [
      {
        interval: '1m',
        input_series: series,
        promql_expr_test: expected.map(({ eval_time, alertname, exp_alerts }) => ({
          expr: `max by (alertname, gateway, stage) (ALERTS{alertname="${alertname}", alertstate="firing"})`,
          eval_time,
          exp_samples: exp_alerts.map((where) => ({
            labels:
              where === ''
                ? `{alertname="${alertname}"}`
                : `{alertname="${alertname}", gateway="acme-eu", stage="${where}"}`,
            value: 1,
          })),
        })),
      },
    ];
    expect(rules.length).toBe(PROMETHEUS_RULES.length);
    const file = path.join(folder, `${name.replaceAll(/\W+/g, '-')}.yaml`);
    const groups = ['gatewatch-payment-totals', 'gatewatch-payment-alerts'];
    writeFileSync(
      file,
      stringify({ rule_files: FILES, evaluation_interval: '30s', group_eval_order: groups, tests }),
    );
    expect(promtool('test', 'rules', file)).toContain('SUCCESS');
  });
});

import { expect, it } from 'vitest';
import { evaluateRule } from './evaluate-rule.ts';
import type { ProvisionedRule, Reducer } from './rule-file.ts';

type Row = Readonly<Record<string, unknown>>;

const META = [
  { name: 'time', type: "DateTime('UTC')" },
  { name: 'gateway', type: 'String' },
  { name: 'value', type: 'Nullable(Float64)' },
];
const point = (second: number, gateway: string, value: number | null): Row => ({
  time: `2026-03-02 12:00:0${second}`,
  gateway,
  value,
});
const reduced = (reducer: Reducer): ProvisionedRule['data'][number] => ({
  refId: reducer,
  relativeTimeRange: { from: 0, to: 0 },
  model: { type: 'reduce', reducer, expression: 'series', settings: { mode: 'dropNN' } },
});
const rule: ProvisionedRule = {
  uid: 'a',
  title: 'GatewatchA',
  condition: 'last',
  data: [
    {
      refId: 'series',
      relativeTimeRange: { from: 60, to: 0 },
      model: { rawSql: 'SELECT $__toTime', format: 0, intervalMs: 1000 },
    },
    ...(['last', 'min', 'max', 'sum'] as const).map(reduced),
  ],
  for: '0s',
  keepFiringFor: '0s',
  noDataState: 'KeepLast',
  execErrState: 'KeepLast',
  missing_series_evals_to_resolve: 2,
  labels: {},
  annotations: {},
  isPaused: false,
  group: 'fast',
  interval: '1m',
};
const evaluate = (data: readonly Row[], meta = META) =>
  evaluateRule(rule, { now: new Date('2026-03-02T12:00:05Z'), query: async () => ({ meta, data }) });

it('makes one series of each set of labels, and reduces it without its gaps', async () => {
  const { instances } = await evaluate([
    point(1, 'x', -6),
    point(1, 'y', 1),
    point(2, 'x', 40),
    point(3, 'x', 12),
    point(3, 'y', null),
  ]);
  expect(instances).toEqual([
    { labels: { gateway: 'x' }, values: { last: 12, min: -6, max: 40, sum: 46 }, firing: true },
    { labels: { gateway: 'y' }, values: { last: 1, min: 1, max: 1, sum: 1 }, firing: true },
  ]);
});

it('has no value where a series has none, and no data without a row', async () => {
  expect((await evaluate([point(1, 'x', null)])).instances).toMatchObject([
    { values: { last: null, min: null, max: null }, firing: false },
  ]);
  expect(await evaluate([])).toMatchObject({ noData: true, instances: [] });
});

it.each([
  ['a point twice', [point(1, 'x', 1), point(1, 'x', 2)], META, 'twice'],
  ['rows in another order', [point(2, 'x', 1), point(1, 'x', 2)], META, 'order of their time'],
  ['no time', [{ gateway: 'x', value: 1 }], META.slice(1), 'must return a time'],
  [
    'two numbers',
    [{ ...point(1, 'x', 1), other: 2 }],
    [...META, { name: 'other', type: 'UInt64' }],
    'one number',
  ],
])('refuses %s, as Grafana does', async (_, rows, meta, problem) => {
  await expect(evaluate(rows, meta)).rejects.toThrow(problem);
});

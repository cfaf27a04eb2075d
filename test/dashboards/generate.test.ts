import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { generateAlerts } from '../../alerts/grafana/generate.ts';
import { generateDashboards } from '../../dashboards/generate.ts';
import { writeOut } from '../../dashboards/house/write-out.ts';
import { dashboardProviderSchema, datasourceSchema } from '../support/grafana-schema.ts';

const path = (relative: string): string => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

describe('generated files', () => {
  it('are committed as they would be generated now', () => {
    expect(writeOut(path('dashboards/out'), generateDashboards(), { check: true })).toEqual([]);
    expect(writeOut(path('alerts/out'), generateAlerts(), { check: true })).toEqual([]);
  });

  it('are the same every time', () => {
    expect(generateDashboards()).toEqual(generateDashboards());
    expect(generateAlerts()).toEqual(generateAlerts());
  });

  it('provision the dashboards where they are mounted', () => {
    const text = generateDashboards().get('grafana/provisioning/dashboards/gatewatch.yaml') ?? '';
    expect(dashboardProviderSchema.parse(parse(text)).providers).toHaveLength(1);
  });

  it('provision the data source under the uid that rules name, with its secret from the environment', () => {
    const text = generateDashboards().get('grafana/provisioning/datasources/gatewatch.yaml') ?? '';
    expect(datasourceSchema.parse(parse(text)).datasources.map(({ uid }) => uid)).toEqual([
      'clickhouse-gatewatch',
    ]);
  });
});

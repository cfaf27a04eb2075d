import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { generateAlerts } from '../../alerts/grafana/generate.ts';
import { generateDashboards } from '../../dashboards/generate.ts';
import { runGenerator, writeOut } from '../../dashboards/house/write-out.ts';
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

describe('writing generated files', () => {
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'gatewatch-out-'))));
  afterEach(() => rmSync(dir, { recursive: true }));
  const files = new Map([
    ['a/one.json', '1\n'],
    ['two.yaml', '2\n'],
  ]);

  it('writes what is missing or changed and removes what is no longer generated', () => {
    writeFileSync(join(dir, 'old.json'), 'x');
    expect(writeOut(dir, files, { check: false })).toEqual(['a/one.json', 'old.json', 'two.yaml']);
    expect(writeOut(dir, files, { check: true })).toEqual([]);
    expect(readFileSync(join(dir, 'a/one.json'), 'utf8')).toBe('1\n');
  });

  it('only names what is stale when it checks', () => {
    writeOut(dir, files, { check: false });
    writeFileSync(join(dir, 'two.yaml'), 'changed by hand');
    writeFileSync(join(dir, 'three.yaml'), 'left over');
    expect(writeOut(dir, files, { check: true })).toEqual(['three.yaml', 'two.yaml']);
    expect(readFileSync(join(dir, 'two.yaml'), 'utf8')).toBe('changed by hand');
  });

  it('ends with 1 only when it checks and something is stale', () => {
    expect(runGenerator(dir, files, ['--check'])).toBe(1);
    expect(runGenerator(dir, files, [])).toBe(0);
    expect(runGenerator(dir, files, ['--check'])).toBe(0);
  });

  it('refuses to write nothing', () => {
    expect(() => writeOut(dir, new Map(), { check: false })).toThrow('nothing was generated');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadRules } from './rule-file.ts';

const OUT = fileURLToPath(new URL('../../../alerts/out/provisioning/alerting', import.meta.url));

describe('loading rules', () => {
  let dir: string;
  beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'gatewatch-rules-'))));
  afterEach(() => rmSync(dir, { recursive: true }));

  it('reads what Grafana would', () => {
    const [first] = loadRules(OUT);
    expect(first).toMatchObject({
      title: 'GatewatchTechTimeouts',
      group: 'gatewatch-fast',
      interval: '1m',
      for: '1m',
      keepFiringFor: '5m',
    });
  });

  it('reads queries of both formats, and what reduces a series', () => {
    const [first] = loadRules(OUT);
    expect(first?.data[0]?.model).toMatchObject({
      format: 1,
      rawSql: expect.stringContaining('alert_evaluations'),
    });
    writeFileSync(join(dir, 'a.yaml'), rulesWith({ refId: 'A', rawSql: 'SELECT 1', format: 0 }));
    expect(loadRules(dir)[0]?.data[0]?.model).toMatchObject({ rawSql: 'SELECT 1', format: 0 });
    const last = { type: 'reduce', reducer: 'last', expression: 'B' };
    writeFileSync(join(dir, 'a.yaml'), rulesWith({ ...last, refId: 'A', settings: { mode: 'dropNN' } }));
    expect(loadRules(dir)[0]?.data[0]?.model).toMatchObject(last);
  });

  it.each([
    ['no-file', {}],
    [
      'a reduction that keeps gaps',
      { 'a.yaml': rulesWith({ type: 'reduce', reducer: 'last', expression: 'B', refId: 'A' }) },
    ],
    ['no YAML', { 'a.yaml': '{' }],
    ['no rules', { 'a.yaml': 'apiVersion: 1\n' }],
    [
      'another kind of expression',
      { 'a.yaml': rulesWith({ type: 'sql', expression: 'SELECT 1', refId: 'A' }) },
    ],
  ])('says what is wrong with %s', (_, contents) => {
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(dir, name), text);
    expect(() => loadRules(dir)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });

  it('says when the folder is not there', () => {
    expect(() => loadRules(join(dir, 'nowhere'))).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

function rulesWith(model: object): string {
  const rule = {
    uid: 'a',
    title: 'A',
    condition: 'A',
    for: '1m',
    noDataState: 'OK',
    execErrState: 'OK',
    data: [{ refId: 'A', model }],
  };
  return JSON.stringify({ apiVersion: 1, groups: [{ name: 'g', interval: '1m', rules: [rule] }] });
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Silence } from '../../../schemas/silence.ts';
import { evaluationRow, passAt, stateRow } from '../../alerts/support/evaluation-rows.ts';
import { dateTime64, startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { cli } from './support/cli.ts';

const MINUTE = 60_000;
const asOf = Math.floor(Date.now() / MINUTE) * MINUTE - MINUTE;
const rule = 'GatewatchTechTimeouts';

let folder: string;
let store: SeededStore;
const configWith = (alerts: object): string => {
  const file = join(folder, `${Object.keys(alerts).join('-')}.yaml`);
  writeFileSync(file, JSON.stringify({ clickhouse: store.connection, alerts }));
  return file;
};
const run = (args: readonly string[], alerts: object = { evaluate: true }) =>
  cli(['alerts', ...args, '--config', configWith(alerts)]);
const why = ['--reason', 'The provider works on it', '--by', 'Ann'];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-silence-test-'));
  store = await startSeededStore();
  const labels = { gateway: 'acme-eu', stage: 'CHECK' };
  const settings = { rule: '*', setting: 'set', value: 1, configured_at: dateTime64(asOf) };
  await store.seed({
    rows: {
      alertSettings: [
        { ...settings, gateway: 'acme-eu' },
        { ...settings, gateway: 'acme-us' },
      ],
      alertEvaluations: [
        passAt(asOf),
        evaluationRow({ rule, label: 'CHECK', asOf, seen: 340, affected: 12, limit: 9, breach: true }),
      ],
      alertStates: [
        stateRow({
          rule,
          labels,
          state: 'Alerting',
          changedAt: asOf - MINUTE,
          evaluatedAt: asOf,
          firingSince: asOf - MINUTE,
        }),
      ],
    },
  });
});
afterAll(async () => {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('gatewatch alerts silence, acknowledge and unsilence', () => {
  it('hold an alert back, show it with reason and end, and take that back', async () => {
    const silenced = await run(['silence', 'TechTimeouts', '-g', 'acme-eu', '--for', '2h', ...why]);
    expect(silenced).toMatchObject({ code: 0, stderr: '' });
    const [, id = ''] =
      /^GatewatchTechTimeouts acme-eu: silenced until \S+ \S+ UTC\. Take it back with "gatewatch alerts unsilence (\S+)"\.\n$/.exec(
        silenced.stdout,
      ) ?? expect.fail(silenced.stdout);
    const shown = await run([]);
    expect(shown.stdout).toMatch(
      /^ {2}GatewatchTechTimeouts silenced until \S+ \S+ UTC, by Ann: The provider works on it$/m,
    );
    expect(shown.stdout).toMatch(new RegExp(`^silenced +${id} +GatewatchTechTimeouts acme-eu +`, 'm'));
    expect(shown.stdout).toMatch(/^FIRING .*GatewatchTechTimeouts/m);
    const json = JSON.parse((await run(['--json'])).stdout) as { held: Silence; incident: string }[];
    expect(json[0]).toMatchObject({ held: { id, by: 'Ann' }, incident: expect.stringMatching(/^acme-eu\//) });
    expect(await run(['unsilence', id])).toMatchObject({
      code: 0,
      stdout: `silenced ${id} is taken back.\n`,
    });
    expect((await run([])).stdout).not.toContain('silenced');
    expect(await run(['unsilence', id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`received ${id}. "gatewatch alerts" lists them`),
    });
  });

  it('say what is not passed on to Alertmanager and Grafana', async () => {
    const alertmanager = { evaluate: true, alertmanager: { url: 'http://127.0.0.1:9' } };
    const args = ['TechTimeouts', '-g', 'acme-eu', '--label', 'CHECK', ...why];
    const acknowledged = await run(['acknowledge', ...args, '--json'], alertmanager);
    expect(JSON.parse(acknowledged.stdout)).toMatchObject({
      kind: 'acknowledged',
      until: null,
      label: 'CHECK',
    });
    expect((await run(['acknowledge', ...args], alertmanager)).stderr).toContain(
      "amtool silence add --alertmanager.url=http://127.0.0.1:9 --duration=2h --comment='The provider works on it' 'service=gatewatch' 'alertname=GatewatchTechTimeouts' 'gateway=acme-eu' 'stage=CHECK'",
    );
    const silence = ['silence', ...args, '--for', '1h'];
    expect((await run(silence, alertmanager)).stderr).toBe(
      'Alertmanager gets the silence within a minute.\n',
    );
    expect((await run(silence, { externalUrl: 'https://grafana.shop.de' })).stderr).toContain(
      'https://grafana.shop.de/alerting/silence/new?alertmanager=grafana&matcher=service%3Dgatewatch&',
    );
  });

  it.each([
    [['silence', 'Nonsense', '--for', '2h', ...why], 'no rule is called Nonsense'],
    [
      ['silence', 'TechTimeouts', '-g', 'acme', '--for', '2h', ...why],
      '--gateway: expected one of acme-eu, acme-us',
    ],
    [['silence', 'TechTimeouts', '--for', '-2h', ...why], '--for: expected a duration up to 30d'],
    [
      ['silence', 'all', '--for', '2d', ...why],
      '--for: expected 24h at most, since security or money is at risk',
    ],
    [
      ['silence', 'TechTimeouts', '--for', '2h', '--reason', 'x'.repeat(10_000)],
      '--reason: expected at most 500',
    ],
    [['silence', 'TechTimeouts', '--for', '2h', '--reason', ''], '--reason: expected at least 1'],
    [['silence', 'TechTimeouts', ...why], "'--for <duration>' not specified"],
    [['acknowledge', 'TechTimeouts'], "'--reason <text>' not specified"],
    [['unsilence', "x' OR 1 --"], 'the id: expected one of'],
  ])('%j is bad usage', async (args, text) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(text);
  });

  it('show markup and control characters of a reason as text, or refuse them', async () => {
    const reason = '<b>"bold"</b>';
    await run(['acknowledge', 'all', '--reason', reason]);
    expect((await run([])).stdout).toContain(reason);
    const forged = await run(['acknowledge', 'all', '--reason', 'a\u001b[2Jb']);
    expect(forged).toMatchObject({ code: 2, stderr: expect.stringContaining('printable text in one line') });
  });
});

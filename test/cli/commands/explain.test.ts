import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluationRow } from '../../alerts/support/evaluation-rows.ts';
import { PAID, TIMED_OUT, traffic } from '../../alerts/traffic.ts';
import { startSeededStore, type SeededStore } from '../../support/seed-store.ts';
import { cli } from './support/cli.ts';

const MINUTE = 60_000;
const asOf = Math.floor(Date.now() / MINUTE) * MINUTE - 10 * MINUTE;
const window = [asOf - 15 * MINUTE, asOf - MINUTE] as const;
const RULE = 'GatewatchTechTimeouts';
const timeouts = {
  rule: RULE,
  label: 'GATEWAY_CREATE',
  seen: 200,
  affected: 90,
  window,
  breach: true,
} as const;

let folder: string;
let file: string;
let store: SeededStore;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-explain-test-'));
  store = await startSeededStore();
  file = join(folder, 'store.yaml');
  writeFileSync(file, JSON.stringify({ clickhouse: store.connection }));
  const of = (gateway: string, codes: (n: number) => readonly string[]) =>
    traffic({ gateway, orders: 200, from: window[0] + MINUTE, to: window[1] - MINUTE, codes });
  await store.seed({
    orders: [
      ...of('acme-eu', (n) => (n % 2 === 0 && n < 180 ? TIMED_OUT : PAID)),
      ...of('acme-us', (n) => (n % 4 < 2 && n < 120 ? TIMED_OUT : PAID)),
    ],
    rows: {
      alertEvaluations: [
        evaluationRow({ ...timeouts, asOf }),
        evaluationRow({ ...timeouts, asOf, gateway: 'acme-us', affected: 60 }),
        evaluationRow({ ...timeouts, asOf: asOf + MINUTE, breach: false }),
        evaluationRow({ rule: 'GatewatchConsumerLag', asOf, number: 900, breach: true }),
      ],
    },
  });
});
afterAll(async () => {
  await store?.stop();
  rmSync(folder, { recursive: true, force: true });
});
const explain = (...more: string[]) => cli(['explain', '--config', file, ...more]);

it('shows the newest incident of the rule: the sentence, the slices with bars, what is at risk, an order', async () => {
  const { code, stdout, stderr } = await explain(RULE);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [head, sentence, , titles, slice, , risk, example] = stdout.split('\n');
  expect(head).toMatch(/^GatewatchTechTimeouts, acme-eu GATEWAY_CREATE, \d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
  expect(sentence).toMatch(/^90 of 200 orders \(45 %\) timed out \(reason 11\) between /);
  expect(titles).toMatch(/^what stands out +affected +seen +share +compared with$/);
  expect(slice).toBe(
    'channel card           90   100   90 %  █████████░  the rest: 0 of 100 (0 %)  ░░░░░░░░░░',
  );
  expect(risk).toBe('At risk: 90 orders without amount');
  expect(example).toMatch(/^Example: order acme-eu-\d+-178 \(Deposit\), trace [0-9a-f]{32}$/);
});

it('says so when nothing stands out', async () => {
  const { code, stdout } = await explain(
    RULE.toLowerCase(),
    '--gateway',
    'acme-us',
    '--label',
    'GATEWAY_CREATE',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('\nNothing stands out: it is everywhere alike.\n');
});

it('says of a number that there are no orders behind it', async () => {
  const { code, stdout } = await explain('GatewatchConsumerLag');
  expect(code).toBe(0);
  expect(stdout).toContain('The rule counts no orders');
});

it('gives all of it to machines', async () => {
  const { code, stdout } = await explain(RULE, '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    rule: RULE,
    gateway: 'acme-eu',
    label: 'GATEWAY_CREATE',
    asOf,
    numbers: { seen: 200, affected: 90 },
    slices: [
      {
        dimension: 'channel',
        value: 'card',
        seen: 100,
        affected: 90,
        against: { of: 'rest', seen: 100, affected: 0 },
      },
    ],
    atRisk: { amounts: [], withoutAmount: 90 },
    example: {
      gateway: 'acme-eu',
      orderType: 'Deposit',
      url: expect.stringMatching(/^\/d\/gatewatch-order\?/),
    },
  });
});

it('fails with a clear text when there was no incident, and refuses what it does not know', async () => {
  const before = await explain(RULE, '--at', new Date(asOf - MINUTE).toISOString(), '--gateway', 'acme-eu');
  expect(before).toMatchObject({ code: 1, stdout: '' });
  expect(before.stderr).toMatch(
    /^GatewatchTechTimeouts saw no incident at acme-eu up to .*\. "gatewatch alerts" shows/,
  );
  expect(await explain('GatewatchNothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no rule is called GatewatchNothing'),
  });
  expect(await explain(RULE, '--at', 'yesterday')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--at: expected a time'),
  });
});

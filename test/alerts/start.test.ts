import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Alert } from '../../alerts/explain/alert.ts';
import { startAlerting } from '../../alerts/start.ts';
import type { AlertTarget } from '../../alerts/notify/alert-target.ts';
import { alertsConfigSchema } from '../../schemas/config-alerts.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** As many rules as come with gatewatch. */
const RULES = 32;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-alerting-'));
  const rules = Array.from({ length: RULES }, (_, n) => ({
    uid: `rule-${n}`,
    title: `GatewatchRule${n}`,
    condition: 'number',
    for: '0s',
    noDataState: 'OK',
    execErrState: n === RULES - 1 ? 'Error' : 'KeepLast',
    labels: { severity: 'critical' },
    data: [{ refId: 'number', model: { rawSql: 'SELECT gateway, value', format: 1 } }],
  }));
  const file = { apiVersion: 1, groups: [{ name: 'fast', interval: '1m', rules }] };
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(file));
  const patient = { ...rules[0], for: '2m', keepFiringFor: '2m' };
  mkdirSync(join(folder, 'patient'));
  writeFileSync(
    join(folder, 'patient', 'rules.yaml'),
    JSON.stringify({ apiVersion: 1, groups: [{ name: 'patient', interval: '1m', rules: [patient] }] }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let clock: FakeClock;
let store: 'answers' | 'hangs' | 'refuses';
let fires: boolean;
let notified: { readonly at: number; readonly alerts: readonly Alert[] }[];
let settings: number;
let evaluations: number;
beforeEach(() => {
  clock = createFakeClock();
  store = 'answers';
  fires = true;
  notified = [];
  settings = 0;
  evaluations = 0;
});

/** What a store does that is away: it refuses, or says nothing until a deadline of half a minute. */
async function answer<T>(value: T): Promise<T> {
  if (store === 'hangs') await new Promise<void>((late) => void clock.after(30_000, late));
  if (store === 'answers') return value;
  throw new Error('the store did not answer');
}

interface Given {
  readonly evaluate?: boolean;
  readonly targets?: readonly AlertTarget[];
  readonly rulesFolder?: string;
}
const start = ({ evaluate = true, targets, rulesFolder = folder }: Given = {}) =>
  startAlerting({
    config: alertsConfigSchema.parse({ evaluate, rulesFolder }),
    gateways: [],
    store: {
      query: () => answer([]),
      async queryText() {
        evaluations++;
        const meta = [
          { name: 'gateway', type: 'String' },
          { name: 'value', type: 'Float64' },
        ];
        return answer(JSON.stringify({ meta, data: [{ gateway: 'acme-eu', value: fires ? 1 : 0 }] }));
      },
      async insert(table) {
        await answer(null);
        if (table === 'alertSettings') settings++;
      },
    },
    collectorId: 'collector-1',
    clock,
    log: pino({ level: 'silent' }),
    rulesFolder: folder,
    dataDir: folder,
    targets: targets ?? [
      {
        name: 'alertmanager',
        send: (alerts, now) => {
          notified.push({ at: now, alerts });
          return Promise.resolve();
        },
      },
    ],
  });

/** Lets minutes pass, a second at a time, as the evaluations need turns in between. */
async function minutes(count: number): Promise<void> {
  for (let second = 0; second < count * 60; second++) await clock.advance(1000);
}
const newest = () => notified.at(-1) ?? expect.fail('nobody was told');
const firing = (alerts: readonly Alert[]) => alerts.filter(({ status }) => status === 'firing');

it('what fires goes on firing for its receivers while a store hangs, however long an evaluation takes then', async () => {
  const stop = await start();
  await minutes(2);
  expect(firing(newest().alerts)).toHaveLength(RULES);
  store = 'hangs';
  const before = notified.length;
  await minutes(40);
  const during = notified.slice(before - 1);
  for (const [index, { at, alerts }] of during.slice(1).entries()) {
    const last = during[index]?.alerts ?? [];
    // Whoever was told before still believes it, and is told that it goes on.
    expect(Math.min(...firing(last).map(({ endsAt }) => endsAt.getTime()))).toBeGreaterThan(at);
    expect(firing(alerts).length).toBeGreaterThanOrEqual(RULES - 1);
  }
  expect(clock.now() / 1000 - newest().at).toBeLessThan(3 * MINUTE);
  store = 'answers';
  await minutes(1);
  await stop();
});

it('an error ends under the name under which it began', async () => {
  fires = false;
  const stop = await start();
  await minutes(1);
  store = 'refuses';
  await minutes(2);
  const [began] = firing(newest().alerts);
  expect(began?.labels).toMatchObject({
    alertname: 'DatasourceError',
    rulename: `GatewatchRule${RULES - 1}`,
  });
  store = 'answers';
  await minutes(2);
  const [ended, ...others] = newest().alerts;
  expect(others).toEqual([]);
  expect(ended).toMatchObject({ status: 'resolved', fingerprint: began?.fingerprint, labels: began?.labels });
  await stop();
});

it('waits for a store that is away at the start, with the settings and with the evaluation', async () => {
  store = 'refuses';
  const stop = await start();
  await minutes(2);
  expect({ settings, evaluations }).toEqual({ settings: 0, evaluations: 0 });
  store = 'answers';
  await minutes(2);
  expect(settings).toBe(1);
  expect(firing(newest().alerts)).toHaveLength(RULES);
  await stop();
  expect(clock.pending()).toBe(0);
});

it('writes the settings down later, too, where nothing is evaluated here', async () => {
  store = 'refuses';
  const stop = await start({ evaluate: false });
  store = 'answers';
  await minutes(1);
  await until(
    'they are stored',
    () => settings,
    (count) => count === 1,
  );
  await stop();
  expect(clock.pending()).toBe(0);
});

it.each([-3_600_000, 3_600_000])(
  'what is pending or recovering lasts as long as ever when the clock is set by %i ms',
  async (step) => {
    const fires0 = () => firing(newest().alerts).length > 0;
    const stop = await start({ rulesFolder: join(folder, 'patient') });
    await minutes(1);
    clock.step(step);
    await minutes(1);
    expect(fires0()).toBe(false);
    await minutes(1);
    expect(fires0()).toBe(true);
    fires = false;
    await minutes(1);
    clock.step(step);
    await minutes(1);
    expect(fires0()).toBe(true);
    await minutes(1);
    expect(fires0()).toBe(false);
    // An end in the future would be none.
    for (const { endsAt } of newest().alerts) expect(endsAt.getTime()).toBeLessThanOrEqual(newest().at);
    await stop();
  },
);

it('goes on evaluating, and telling the others, while one target says nothing', async () => {
  const reached: number[] = [];
  const silent = Promise.withResolvers<void>();
  const stop = await start({
    targets: [
      { name: 'webhook', send: () => silent.promise },
      { name: 'alertmanager', send: (_, now) => Promise.resolve(void reached.push(now)) },
    ],
  });
  await minutes(5);
  expect(reached.length).toBeGreaterThanOrEqual(4);
  silent.resolve();
  await stop();
});

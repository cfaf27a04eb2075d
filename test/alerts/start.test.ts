import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { PassReport } from '../../alerts/evaluate/evaluator.ts';
import type { Alert } from '../../alerts/explain/alert.ts';
import { startAlerting } from '../../alerts/start.ts';
import type { AlertTarget } from '../../alerts/notify/alert-target.ts';
import { RULES } from '../../alerts/rules/all.ts';
import type { Rule } from '../../alerts/rules/rule.ts';
import { alertsConfigSchema } from '../../schemas/config-alerts.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { passOf } from './support/evaluations.ts';
import { type MemoryAlertingStore, memoryAlertingStore } from './support/memory-alerting-store.ts';

const MINUTE = 60_000;
/** Every rule that ships, without waits. */
const HASTY: readonly Rule[] = RULES.map((rule) => ({
  ...rule,
  group: 'fast',
  pendingSeconds: 0,
  keepFiringSeconds: 0,
}));
const PATIENT: readonly Rule[] = HASTY.slice(0, 1).map((rule) => ({
  ...rule,
  pendingSeconds: 120,
  keepFiringSeconds: 120,
}));

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'gatewatch-alerting-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let clock: FakeClock;
let does: 'answers' | 'hangs' | 'refuses' | 'refuses rows';
let memory: MemoryAlertingStore;
let fires: boolean;
let notified: { readonly at: number; readonly alerts: readonly Alert[] }[];
let passes: PassReport[];
beforeEach(() => {
  clock = createFakeClock();
  does = 'answers';
  memory = memoryAlertingStore(reach);
  fires = true;
  notified = [];
  passes = [];
});

/** What a store does that is away: it refuses, or says nothing until a deadline of half a minute. */
async function reach(kind: 'query' | 'insert'): Promise<void> {
  if (does === 'hangs') await new Promise<void>((late) => void clock.after(30_000, late));
  if (does === 'answers' || (does === 'refuses rows' && kind === 'query')) return;
  throw new Error('the store did not answer');
}

interface Given {
  readonly evaluate?: boolean;
  readonly targets?: readonly AlertTarget[];
  readonly rules?: readonly Rule[];
}
function start({ evaluate = true, targets, rules = HASTY }: Given = {}) {
  const pass = passOf(rules, () => [{ gateway: 'acme-eu', label: '', breach: fires }]);
  return startAlerting({
    config: alertsConfigSchema.parse({ evaluate }),
    gateways: [],
    store: memory.store,
    rules,
    async pass(asOfMs, groups) {
      await reach('query');
      return pass(asOfMs, groups);
    },
    onPass: (done) => void passes.push(done),
    collectorId: 'collector-1',
    clock,
    log: pino({ level: 'silent' }),
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
}

/** Lets minutes pass, a second at a time, as the evaluations need turns in between. */
async function minutes(count: number): Promise<void> {
  for (let second = 0; second < count * 60; second++) await clock.advance(1000);
}
const newest = () => notified.at(-1) ?? expect.fail('nobody was told');
const firing = (alerts: readonly Alert[]) => alerts.filter(({ status }) => status === 'firing');

it.each(['hangs', 'refuses'] as const)(
  'what fires goes on firing for its receivers while a store %s, and the minutes are caught up',
  async (away) => {
    const alerting = await start();
    await minutes(2);
    expect(firing(newest().alerts)).toHaveLength(HASTY.length);
    does = away;
    const before = notified.length;
    await minutes(20);
    const during = notified.slice(before - 1);
    for (const [index, { at, alerts }] of during.slice(1).entries()) {
      const last = during[index]?.alerts ?? [];
      // Whoever was told before still believes it, and is told that it goes on.
      expect(Math.min(...firing(last).map(({ endsAt }) => endsAt.getTime()))).toBeGreaterThan(at);
      expect(firing(alerts)).toHaveLength(HASTY.length);
    }
    expect(clock.now() / 1000 - newest().at).toBeLessThan(3 * MINUTE);
    expect(alerting.status().ageSeconds).toBeGreaterThan(18 * 60);
    expect(alerting.status().lastError).toBe('the store did not answer');
    does = 'answers';
    await minutes(2);
    const instants = memory.instants();
    expect(instants.slice(1).every((at, index) => at - (instants[index] ?? 0) === MINUTE)).toBe(true);
    expect(alerting.status()).toMatchObject({ holdsLease: true, lastError: null });
    expect(alerting.status().ageSeconds).toBeLessThan(70);
    await alerting.stop();
  },
);

it('gives up what is more than half an hour ago, and counts it', async () => {
  const alerting = await start();
  await minutes(1);
  does = 'refuses';
  await minutes(50);
  does = 'answers';
  await minutes(2);
  const missed = passes.reduce((sum, pass) => sum + pass.missed, 0);
  expect(missed).toBeGreaterThan(15);
  expect(missed).toBeLessThan(25);
  await alerting.stop();
});

it('pages although the store takes no rows, and writes them when it does', async () => {
  fires = false;
  const alerting = await start();
  await minutes(2);
  does = 'refuses rows';
  fires = true;
  await minutes(3);
  expect(firing(newest().alerts)).toHaveLength(HASTY.length);
  const stored = memory.instants().length;
  does = 'answers';
  await minutes(1);
  expect(memory.instants().length).toBe(stored + 4);
  await alerting.stop();
});

it('waits for a store that is away at the start, with the settings and with the evaluation', async () => {
  does = 'refuses';
  const alerting = await start();
  await minutes(2);
  expect([memory.statements('alertSettings'), memory.statements('alertEvaluations')]).toEqual([0, 0]);
  expect(alerting.status()).toMatchObject({ holdsLease: false, newestAsOf: null });
  does = 'answers';
  await minutes(2);
  expect(memory.statements('alertSettings')).toBe(1);
  expect(memory.instants().length).toBeGreaterThan(0);
  expect(firing(newest().alerts)).toHaveLength(HASTY.length);
  await alerting.stop();
  expect(clock.pending()).toBe(0);
});

it('evaluates also where nobody is to be told, and tells nobody', async () => {
  const alerting = await start({ evaluate: false });
  await minutes(3);
  expect(memory.instants().length).toBeGreaterThanOrEqual(3);
  expect(memory.inserted('alertStates')).toBeGreaterThan(0);
  expect(notified).toEqual([]);
  await alerting.stop();
  expect(clock.pending()).toBe(0);
});

it('stands by while another collector evaluates, tells nobody, and takes over when that one is gone', async () => {
  memory.lease({ holder: 'collector-2', tells: true });
  const alerting = await start();
  await minutes(3);
  expect({ passes, notified }).toEqual({ passes: [], notified: [] });
  expect(alerting.status().holdsLease).toBe(false);
  memory.lease(null);
  await minutes(2);
  expect(alerting.status().holdsLease).toBe(true);
  expect(firing(newest().alerts)).toHaveLength(HASTY.length);
  memory.lease({ holder: 'collector-2', tells: true });
  await minutes(1);
  const [evaluated, told] = [passes.length, notified.length];
  await minutes(3);
  expect([passes.length, notified.length]).toEqual([evaluated, told]);
  await alerting.stop();
});

it.each([-3_600_000, 3_600_000])(
  'what is pending or recovering lasts as long as ever when the clock is set by %i ms',
  async (step) => {
    const fires0 = () => firing(newest().alerts).length > 0;
    const alerting = await start({ rules: PATIENT });
    await clock.advance(10_000);
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
    await alerting.stop();
  },
);

it('goes on evaluating, and telling the others, while one target says nothing', async () => {
  const reached: number[] = [];
  const silent = Promise.withResolvers<void>();
  const alerting = await start({
    targets: [
      { name: 'webhook', send: () => silent.promise },
      { name: 'alertmanager', send: (_, now) => Promise.resolve(void reached.push(now)) },
    ],
  });
  await minutes(5);
  expect(reached.length).toBeGreaterThanOrEqual(4);
  silent.resolve();
  await alerting.stop();
});

it('writes the settings down later, too', async () => {
  does = 'refuses';
  const alerting = await start({ evaluate: false });
  does = 'answers';
  await minutes(1);
  await expect.poll(() => memory.statements('alertSettings')).toBe(1);
  await alerting.stop();
});

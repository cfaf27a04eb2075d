import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PassReport } from '../../alerts/evaluate/evaluator.ts';
import type { Alert } from '../../alerts/explain/alert.ts';
import type { AlertTarget } from '../../alerts/notify/alert-target.ts';
import { RULES } from '../../alerts/rules/all.ts';
import { isAskedDirectly, isHeartbeat, type Rule, type RuleGroupName } from '../../alerts/rules/rule.ts';
import { alertsConfigSchema } from '../../schemas/config-alerts.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { passOf } from './support/evaluations.ts';
import { type MemoryAlertingStore, memoryAlertingStore } from './support/memory-alerting-store.ts';
import { runEvaluation } from './support/run-evaluation.ts';

const MINUTE = 60_000;
/** Every rule that a collector evaluates, without waits. */
const HASTY: readonly Rule[] = RULES.filter((rule) => !isAskedDirectly(rule)).map((rule) => ({
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
interface Notified {
  readonly at: number;
  readonly alerts: readonly Alert[];
}
/** What the rules say, and what is said of them being late. */
let notified: Notified[];
let lateNotified: Notified[];
let passes: PassReport[];
beforeEach(() => {
  clock = createFakeClock();
  does = 'answers';
  memory = memoryAlertingStore(reach);
  fires = true;
  notified = [];
  lateNotified = [];
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
  /** Called before each pass with its groups. */
  readonly onEvaluate?: (asOfMs: number, groups: readonly RuleGroupName[]) => void;
  /** @default as `fires` says */
  readonly firesAt?: (asOfMs: number) => boolean;
  /** Rows of the silences that hold. @default the store cannot say */
  readonly silences?: readonly object[];
}
function start({ evaluate = true, targets, rules = HASTY, onEvaluate, firesAt, silences }: Given = {}) {
  const pass = passOf(rules, (_rule, asOfMs) => [
    { gateway: 'acme-eu', label: '', breach: firesAt?.(asOfMs) ?? fires },
  ]);
  return runEvaluation({
    config: alertsConfigSchema.parse({ evaluate }),
    gateways: [],
    store: silences === undefined ? memory.store : withSilences(silences),
    rules,
    async pass(asOfMs, groups) {
      await reach('query');
      onEvaluate?.(asOfMs, groups);
      return pass(asOfMs, groups);
    },
    onPass: (done) => void passes.push(done),
    lease: memory.lease,
    collectorId: 'collector-1',
    clock,
    log: pino({ level: 'silent' }),
    dataDir: folder,
    targets: targets ?? [
      {
        name: 'alertmanager',
        send: (alerts, now) => {
          const isLate = alerts.some(({ labels }) => labels['alertname'] === 'GatewatchEvaluationsLate');
          if (alerts.length > 0) (isLate ? lateNotified : notified).push({ at: now, alerts });
          return Promise.resolve();
        },
      },
    ],
  });
}

/** The store, which also answers what notifications are to say beside the alerts. */
const withSilences = (silences: readonly object[]): MemoryAlertingStore['store'] => ({
  ...memory.store,
  query: async <T>(sql: string) => {
    if (sql.includes('alert_silences')) return silences as T[];
    return sql.includes('alert_history') ? [] : memory.store.query<T>(sql);
  },
});

/** Lets minutes pass, a second at a time, as the evaluations need turns in between. */
async function minutes(count: number): Promise<void> {
  for (let second = 0; second < count * 60; second++) await clock.advance(1000);
}
const newest = () => notified.at(-1) ?? expect.fail('nobody was notified');
const isSignOfLife = ({ labels }: Alert): boolean => labels['alertname'] === 'GatewatchHeartbeat';
/** Signs of life do not count. */
const firing = (alerts: readonly Alert[]) =>
  alerts.filter((alert) => alert.status === 'firing' && !isSignOfLife(alert));
const PAGES = HASTY.filter((rule) => !isHeartbeat(rule)).length;

it('nobody is paged for what began and ended in minutes that are caught up', async () => {
  const from = clock.now() / 1000;
  const alerting = await start({
    rules: HASTY.filter((rule) => !isHeartbeat(rule)),
    firesAt: (asOfMs) => asOfMs > from + 3 * MINUTE && asOfMs < from + 7 * MINUTE,
  });
  await minutes(2);
  does = 'refuses';
  await minutes(7);
  does = 'answers';
  await minutes(3);
  expect(notified.flatMap(({ alerts }) => alerts)).toEqual([]);
  const instants = memory.instants();
  expect(instants.slice(1).every((at, index) => at - (instants[index] ?? 0) === MINUTE)).toBe(true);
  await alerting.stop();
});

it.each(['hangs', 'refuses'] as const)(
  'what fires goes on firing for its receivers while a store %s, and the minutes are caught up',
  async (away) => {
    const alerting = await start();
    await minutes(2);
    expect(firing(newest().alerts)).toHaveLength(PAGES);
    does = away;
    const before = notified.length;
    await minutes(20);
    const during = notified.slice(before - 1);
    for (const [index, { at, alerts }] of during.slice(1).entries()) {
      const last = during[index]?.alerts ?? [];
      // The receivers of the first notification get another one: it goes on.
      expect(Math.min(...firing(last).map(({ endsAt }) => endsAt.getTime()))).toBeGreaterThan(at);
      expect(firing(alerts)).toHaveLength(PAGES);
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

describe('that nothing is evaluated', () => {
  /** How each offer begins: minutes since the store went away, and the status. */
  const story = (sinceMs: number) =>
    lateNotified.map(({ at, alerts }) => `${Math.round((at - sinceMs) / MINUTE)} ${alerts[0]?.status}`);

  it.each(['hangs', 'refuses', 'refuses rows'] as const)(
    'is sent after five minutes in which the store %s, and its end when an instant is evaluated again',
    async (away) => {
      const alerting = await start();
      await minutes(2);
      const since = clock.now() / 1000;
      does = away;
      await minutes(4);
      expect(lateNotified).toEqual([]);
      await minutes(6);
      expect(story(since)[0]).toMatch(/^[56] firing$/);
      expect(story(since).every((one) => one.endsWith('firing'))).toBe(true);
      const [alert] = lateNotified.at(-1)?.alerts ?? [];
      expect(alert?.labels).toEqual({
        alertname: 'GatewatchEvaluationsLate',
        severity: 'critical',
        side: 'collector',
        service: 'gatewatch',
      });
      expect(alert?.annotations['description']).toMatch(
        /^\d+ seconds since the rules were last evaluated at .* Up to 240 are tolerated\./,
      );
      expect(alert?.annotations['runbook_url']).toContain('viewPanel');
      expect(alert?.endsAt.getTime()).toBeGreaterThan(clock.now() / 1000 + MINUTE);
      does = 'answers';
      await minutes(2);
      expect(story(since).at(-1)).toMatch(/resolved$/);
      await minutes(20);
      const sent = lateNotified.length;
      await minutes(2);
      expect(lateNotified).toHaveLength(sent);
      await alerting.stop();
    },
  );

  it('is sent by a collector that could not even look who evaluates, and by one that stands by', async () => {
    does = 'refuses';
    const alone = await start();
    await minutes(7);
    expect(lateNotified.length).toBeGreaterThan(0);
    expect(notified).toEqual([]);
    await alone.stop();
    does = 'answers';
    lateNotified = [];
    memory.leaseToAnother(true);
    const second = await start();
    await minutes(7);
    // The other one has the lease and evaluates nothing.
    expect(lateNotified.length).toBeGreaterThan(0);
    await second.stop();
  });

  it('is not sent because a clock was set, nor where nobody is to be notified', async () => {
    const alerting = await start();
    await minutes(2);
    clock.step(3_600_000);
    await minutes(3);
    await alerting.stop();
    does = 'refuses';
    const silent = await start({ evaluate: false });
    await minutes(10);
    await silent.stop();
    expect(lateNotified).toEqual([]);
  });
});

it('a sign of life is repeated only as long as rules are evaluated', async () => {
  const alive = () => newest().alerts.filter(isSignOfLife).length;
  const alerting = await start();
  await minutes(2);
  expect(alive()).toBe(1);
  does = 'refuses';
  await minutes(6);
  expect(alive()).toBe(0);
  expect(firing(newest().alerts)).toHaveLength(PAGES);
  does = 'answers';
  await minutes(2);
  expect(alive()).toBe(1);
  await alerting.stop();
});

it('evaluates the other rules while those of long windows cannot be, and these once more a minute later', async () => {
  const [fast, other] = HASTY;
  if (fast === undefined || other === undefined) return expect.fail('there are no rules');
  const asked: string[] = [];
  let isTooMuch = true;
  const alerting = await start({
    rules: [fast, { ...other, group: 'slow' }],
    onEvaluate(asOfMs, groups) {
      asked.push(`${new Date(asOfMs).getUTCMinutes() % 10} ${groups.join(' ')}`);
      if (isTooMuch && groups.includes('slow')) throw new Error('it took too long');
    },
  });
  await minutes(12);
  const instants = memory.instants();
  expect(instants.slice(1).every((at, index) => at - (instants[index] ?? 0) === MINUTE)).toBe(true);
  expect(new Set(asked)).toEqual(
    new Set([
      '0 fast slow',
      '0 fast',
      '1 fast slow',
      '1 fast',
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${n} fast`),
    ]),
  );
  expect(newest().alerts.filter(({ labels }) => labels['alertname'] === other.name)).toEqual([]);
  isTooMuch = false;
  await minutes(12);
  expect(firing(newest().alerts)).toHaveLength(2);
  expect(alerting.status().lastError).toBeNull();
  await alerting.stop();
});

it('says that some rules could not be evaluated', async () => {
  const alerting = await start({
    onEvaluate(_, groups) {
      if (groups.includes('slow')) throw new Error('it took too long');
    },
  });
  const errors = new Set<string | null>();
  for (let minute = 0; minute < 12; minute++) {
    await minutes(1);
    errors.add(alerting.status().lastError);
  }
  expect(errors).toEqual(new Set([null, 'it took too long']));
  await alerting.stop();
});

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
  expect(firing(newest().alerts)).toHaveLength(PAGES);
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
  expect(firing(newest().alerts)).toHaveLength(PAGES);
  await alerting.stop();
  expect(clock.pending()).toBe(0);
});

it('evaluates also where nobody is to be notified, and notifies nobody', async () => {
  const alerting = await start({ evaluate: false });
  await minutes(3);
  expect(memory.instants().length).toBeGreaterThanOrEqual(3);
  expect(memory.inserted('alertStates')).toBeGreaterThan(0);
  expect(notified).toEqual([]);
  await alerting.stop();
  expect(clock.pending()).toBe(0);
});

it('stands by while another collector evaluates, notifies nobody, and takes over when that one is gone', async () => {
  memory.leaseToAnother(true);
  const alerting = await start();
  await minutes(3);
  expect({ passes, notified }).toEqual({ passes: [], notified: [] });
  expect(alerting.status().holdsLease).toBe(false);
  memory.leaseToAnother(false);
  await minutes(2);
  expect(alerting.status().holdsLease).toBe(true);
  expect(firing(newest().alerts)).toHaveLength(PAGES);
  memory.leaseToAnother(true);
  await minutes(1);
  const [evaluated, sent] = [passes.length, notified.length];
  await minutes(3);
  expect([passes.length, notified.length]).toEqual([evaluated, sent]);
  await alerting.stop();
});

it.each([-3_600_000, 3_600_000])(
  'what is pending or recovering lasts as long as ever when the clock is set by %i ms',
  async (step) => {
    const fires0 = () => firing(notified.at(-1)?.alerts ?? []).length > 0;
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

it('goes on evaluating, and notifying the others, while one target does not answer', async () => {
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

it('offers what fires with its incident, and with what holds it back', async () => {
  const silence = {
    silence_id: 'abc',
    silence_kind: 'silenced',
    rule: HASTY[0]?.name ?? '',
    gateway: 'acme-eu',
    slice: '',
    label: '',
    created_ms: clock.now() / 1000,
    until_ms: clock.now() / 1000 + 60 * MINUTE,
    reason: 'maintenance',
    created_by: 'Ann',
  };
  const alerting = await start({ silences: [silence] });
  await minutes(2);
  const pages = firing(newest().alerts).filter(({ labels }) => labels['gateway'] === 'acme-eu');
  const heldRules = pages.filter(({ held }) => held === 'silenced').map(({ labels }) => labels['alertname']);
  expect([...new Set(heldRules)]).toEqual([silence.rule]);
  const incidents = pages
    .filter(({ labels }) => labels['severity'] !== 'info')
    .map(({ annotations }) => annotations['incident']);
  expect([...new Set(incidents)]).toEqual([expect.stringMatching(/^acme-eu\/\d{4}-/)]);
  await alerting.stop();
});

import * as fc from 'fast-check';
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { createJobsLease, type JobsLease } from '../../jobs/lease.ts';
import { type Job, type JobReport, type Runner, startRunner } from '../../jobs/runner.ts';
import { JOBS, type JobName } from '../../schemas/names.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let clock: FakeClock;
let reports: JobReport[];
let logged: { readonly level: number; readonly msg: string; readonly job?: string }[];
beforeEach(() => {
  clock = createFakeClock();
  reports = [];
  logged = [];
});

const OURS: JobsLease = { check: () => Promise.resolve(true) };

function start(jobs: readonly Job[], lease: JobsLease = OURS): Runner {
  return startRunner({
    jobs,
    lease,
    clock,
    log: pino({ base: {} }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    around: (_job, run) => run(),
    onRun: (report) => void reports.push(report),
  });
}

const job = (name: JobName, run: Job['run'], more: Partial<Job> = {}): Job => ({
  name,
  intervalMs: MINUTE,
  delayMs: 3 * SECOND,
  deadlineMs: 5 * MINUTE,
  run,
  ...more,
});
const passing = async (ms: number): Promise<void> => {
  for (let second = 0; second < ms / SECOND; second++) await clock.advance(SECOND);
};
const after = (ms: number): Promise<void> => new Promise((done) => void clock.after(ms, done));
/** Never ends, whatever its signal says. */
const hangs = (): Promise<boolean> => new Promise(() => undefined);
const nothingMore = (): Promise<boolean> => Promise.resolve(false);
const errors = () => logged.filter(({ level }) => level === 50);

it('runs each job at the start and at its interval, and again at once while there is more to do', async () => {
  const at: number[] = [];
  let left = 3;
  const runner = start([
    job(JOBS.findings, async () => {
      at.push((clock.now() / SECOND) % MINUTE);
      left -= 1;
      return left > 0;
    }),
  ]);
  await passing(2 * MINUTE);
  expect(at).toEqual([30_000, 30_000, 30_000, 3_000, 3_000]);
  expect(runner.status(JOBS.findings)).toEqual({ holdsLease: true, lastError: null });
  await runner.stop();
});

it('a job that fails is logged in one line, tried again at its interval, and holds back no other', async () => {
  let isBroken = true;
  let others = 0;
  const runner = start([
    job(JOBS.payments, () => (isBroken ? Promise.reject(new Error('no room')) : nothingMore())),
    job(JOBS.findings, async () => ((others += 1), false)),
  ]);
  await passing(2 * MINUTE);
  expect(others).toBe(3);
  expect(errors()).toHaveLength(3);
  expect(errors()[0]).toMatchObject({
    job: JOBS.payments,
    err: { message: 'no room' },
    msg: 'a job failed; its next run catches up',
  });
  expect(runner.status(JOBS.payments).lastError).toBe('no room');
  expect(runner.status(JOBS.findings).lastError).toBeNull();
  expect(reports.filter((one) => one.job === JOBS.payments).map(({ outcome }) => outcome)).toEqual(
    Array.from({ length: 3 }, () => 'failed'),
  );
  const age = (name: string) => runner.successAges().find((one) => one.job === name)?.seconds;
  expect([age(JOBS.payments), age(JOBS.findings)]).toEqual([120, 27]);
  isBroken = false;
  await passing(MINUTE);
  expect(runner.status(JOBS.payments).lastError).toBeNull();
  expect(age(JOBS.payments)).toBe(27);
  await runner.stop();
});

it('a job that hangs for ever holds back itself alone', async () => {
  let evaluated = 0;
  start([job(JOBS.findings, hangs), job(JOBS.evaluation, async () => ((evaluated += 1), false))]);
  await passing(10 * MINUTE);
  expect(evaluated).toBe(11);
});

it('a run that takes too long gets a signal to end, is late, and is tried again', async () => {
  const begun: number[] = [];
  const runner = start([
    job(
      JOBS.findings,
      (signal) => {
        begun.push(clock.monotonicMs());
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
        });
      },
      { deadlineMs: 90 * SECOND },
    ),
  ]);
  await passing(3 * MINUTE);
  expect(begun).toEqual([0, 93 * SECOND]);
  expect(reports).toEqual([{ job: JOBS.findings, outcome: 'late', tookMs: 90 * SECOND }]);
  expect(logged.filter(({ level }) => level === 40)).toMatchObject([{ job: JOBS.findings }]);
  await runner.stop();
});

it('tells what runs to end when it stops, and waits for it', async () => {
  let ended = false;
  const runner = start([
    job(JOBS.findings, async (signal) => {
      await new Promise((end) => signal.addEventListener('abort', end, { once: true }));
      await after(SECOND);
      ended = true;
      throw new Error('given up');
    }),
  ]);
  await passing(5 * SECOND);
  const stopped = runner.stop();
  await passing(2 * SECOND);
  await stopped;
  expect({ ended, errors: errors(), timers: clock.pending() }).toEqual({
    ended: true,
    errors: [],
    timers: 0,
  });
});

it('asks once a minute who holds the lease, however many jobs there are, and again between long runs', async () => {
  let asked = 0;
  const lease = { check: async () => ((asked += 1), true) };
  const jobs = [JOBS.evaluation, JOBS.payments, JOBS.findings];
  const runner = start(
    jobs.map((name, place) => job(name, nothingMore, { delayMs: (3 + 10 * place) * SECOND })),
    lease,
  );
  await passing(10 * MINUTE);
  expect(asked).toBe(11);
  await runner.stop();
  asked = 0;
  let left = 5;
  const long = start([job(JOBS.evaluation, () => after(40 * SECOND).then(() => (left -= 1) > 0))], lease);
  await passing(200 * SECOND);
  expect(asked).toBe(5);
  await long.stop();
});

it('a store that does not say who holds the lease changes nothing about it', async () => {
  let isAway = false;
  let runs = 0;
  const lease = { check: () => (isAway ? Promise.reject(new Error('no answer')) : Promise.resolve(true)) };
  const runner = start([job(JOBS.evaluation, async () => ((runs += 1), false))], lease);
  await passing(MINUTE);
  isAway = true;
  const before = runs;
  await passing(3 * MINUTE);
  expect(runs).toBe(before);
  expect(runner.status(JOBS.evaluation)).toEqual({ holdsLease: true, lastError: 'no answer' });
  isAway = false;
  await passing(MINUTE);
  expect(runs).toBe(before + 1);
  await runner.stop();
});

/** The leases of several collectors in one store. */
function leaseTable() {
  const rows = new Map<string, { holder: string; notifies: boolean; takenAt: number; renewedAt: number }>();
  return (collectorId: string, notifies: boolean): JobsLease =>
    createJobsLease({
      query: async <T>() =>
        [...rows.values()].filter(({ renewedAt }) => renewedAt > clock.now() - 90e6) as T[],
      async command(sql) {
        const [, holder = '', takenAt] =
          /'run jobs', '([^']+)', fromUnixTimestamp64Micro\((\d+)/.exec(sql) ?? [];
        rows.set(holder, { holder, notifies, takenAt: Number(takenAt), renewedAt: clock.now() });
      },
      collectorId,
      notifies,
      now: clock.now,
    });
}

it('whenever a collector dies, another one evaluates within two minutes, the one that notifies first', async () => {
  const second = fc.integer({ min: 1, max: 300 });
  await fc.assert(
    fc.asyncProperty(second, second, second, async (bornS, deadS, notifiesS) => {
      clock = createFakeClock();
      const lease = leaseTable();
      const ran: { readonly id: string; readonly atMs: number }[] = [];
      const live = (id: string, notifies: boolean): Runner => {
        const run = async () => (ran.push({ id, atMs: clock.monotonicMs() }), false);
        const standBy = async () => undefined;
        return start([job(JOBS.evaluation, run, { standBy })], lease(id, notifies));
      };
      const first = live('first', false);
      await passing(bornS * SECOND);
      const heir = live('heir', false);
      await passing(deadS * SECOND);
      const only = (from: number) => new Set(ran.slice(from).map(({ id }) => id));
      expect(only(0)).toEqual(new Set(['first']));
      await first.stop();
      const diedMs = clock.monotonicMs();
      await passing(3 * MINUTE);
      const next = ran.find(({ id }) => id === 'heir');
      expect((next?.atMs ?? Infinity) - diedMs).toBeLessThanOrEqual(2 * MINUTE);
      await passing(notifiesS * SECOND);
      const telling = live('telling', true);
      await passing(MINUTE);
      const from = ran.length;
      await passing(5 * MINUTE);
      expect(only(from)).toEqual(new Set(['telling']));
      await Promise.all([heir.stop(), telling.stop()]);
      expect(clock.pending()).toBe(0);
    }),
    { numRuns: 15 },
  );
});

const behaviour = fc.record({
  tookS: fc.integer({ min: 0, max: 200 }),
  does: fc.constantFrom('ends', 'fails', 'has more', 'obeys'),
});

it('whatever jobs do and whoever holds the lease, none overlaps with itself, runs elsewhere, or is forgotten', async () => {
  const jobs = fc.array(fc.array(behaviour, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(jobs, fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (plans, held) => {
      clock = createFakeClock();
      reports = [];
      let isOurs = false;
      const lease = {
        async check() {
          return (isOurs = held[Math.floor(clock.monotonicMs() / MINUTE) % held.length] ?? true);
        },
      };
      const names = [JOBS.evaluation, JOBS.payments, JOBS.findings];
      const underWay = new Set<JobName>();
      const seenMs = new Map<JobName, number>();
      const planned = plans.map((plan, index) => {
        const name = names[index] ?? JOBS.evaluation;
        let turn = 0;
        const seen = (): void => void seenMs.set(name, clock.monotonicMs());
        const run = async (signal: AbortSignal): Promise<boolean> => {
          expect([isOurs, underWay.has(name)]).toEqual([true, false]);
          underWay.add(name);
          seen();
          const { tookS, does } = plan[turn++ % plan.length] ?? { tookS: 1, does: 'ends' };
          const signalled = new Promise<void>((end) =>
            signal.addEventListener('abort', () => end(), { once: true }),
          );
          await (does === 'obeys' ? Promise.race([after(tookS * SECOND), signalled]) : after(tookS * SECOND));
          underWay.delete(name);
          if (does === 'fails' || (does === 'obeys' && signal.aborted)) throw new Error('not done');
          // Something to do at once takes time, or nothing else gets its turn.
          return does === 'has more' && tookS > 0;
        };
        return job(name, run, { standBy: async () => seen(), deadlineMs: 100 * SECOND });
      });
      const runner = start(planned, lease);
      for (let minute = 0; minute < 12; minute++) {
        await passing(MINUTE);
        // The longest run, and then the interval.
        for (const { name } of planned)
          expect(clock.monotonicMs() - (seenMs.get(name) ?? 0)).toBeLessThanOrEqual(200 * SECOND + MINUTE);
      }
      const stopped = runner.stop();
      await passing(4 * MINUTE);
      await stopped;
      expect(clock.pending()).toBe(0);
      expect(reports.every(({ outcome, tookMs }) => outcome !== 'late' || tookMs >= 100 * SECOND)).toBe(true);
    }),
    { numRuns: 25 },
  );
});

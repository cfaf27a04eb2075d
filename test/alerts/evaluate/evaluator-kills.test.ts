import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEvaluator, type Evaluator } from '../../../alerts/evaluate/evaluator.ts';
import { labelOf, type Rule } from '../../../alerts/rules/rule.ts';
import type { Store } from '../../../store/store.ts';
import { passOf, ruleNamed, type Series } from '../support/evaluations.ts';
import type { TestStore } from '../../support/embedded.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { withTemplate } from '../../support/migrated-folder.ts';
import { openStore } from '../../support/migrated-store.ts';
import { createRandom } from '../../../sandbox/random.ts';

/**
 * An evaluator is killed at any point of its work, again and again, and another one goes on. In the end the
 * store has the same rows and states as if one had worked all the time, and receivers were offered the same.
 */

const MINUTE = 60_000;
const MINUTES = 13;
const RUNS = 10;
const KILLS = 22;

const RULES: readonly Rule[] = [
  ruleNamed('GatewatchTechTimeouts', { pendingSeconds: 60, keepFiringSeconds: 120 }),
  ruleNamed('GatewatchConsumerLag', { pendingSeconds: 120, keepFiringSeconds: 0 }),
  // Always fires, as a heartbeat does.
  ruleNamed('GatewatchCollectorSilent', { pendingSeconds: 0, keepFiringSeconds: 0 }),
  ruleNamed('GatewatchRejects', { pendingSeconds: 0, keepFiringSeconds: 0, group: 'slow' }),
];

/** Incidents of a few minutes, and series that come and go. */
function look(rule: Rule, asOfMs: number): Series[] {
  const minute = asOfMs / MINUTE;
  const named = (gateway: string, label: string, phase: number): Series => {
    if (rule.name === 'GatewatchCollectorSilent') return { gateway, label: '', breach: true };
    const firing = (minute + phase * 5 + rule.name.length) % 9 < 4;
    const missing = labelOf(rule) !== null && (minute + phase * 3) % 17 < 5;
    return { gateway, label: labelOf(rule) === null ? '' : label, breach: missing ? null : firing };
  };
  return [named('acme-eu', 'A', 0), named('acme-eu', 'B', 1), named('acme-us', 'A', 2)].filter(
    ({ gateway, label }, index, all) =>
      all.findIndex((one) => one.gateway === gateway && one.label === label) === index,
  );
}

class Killed extends Error {}

let embedded: TestStore;
let store: Store;
beforeAll(async () => {
  embedded = await withTemplate('migrated');
  store = openStore(embedded, { database: 'gatewatch' });
});
afterAll(async () => {
  await store.close();
  await embedded.stop();
});
const empty = async () => {
  for (const table of ['alert_evaluations_store', 'alert_states_store'])
    await store.command(`TRUNCATE TABLE ${table}`);
};

/** What receivers were offered: each beginning and each end, once. */
type Offered = Set<string>;

interface Life {
  readonly evaluator: Evaluator;
  tick(): Promise<void>;
}

/** An evaluator that dies at a call: before it does anything, or when it has. */
function live(clock: FakeClock, collectorId: string, offered: Offered, dieAt: number, after: boolean): Life {
  let calls = 0;
  let dead = false;
  const mortal = async <T>(work: () => Promise<T>): Promise<T> => {
    if (dead) throw new Killed();
    calls += 1;
    const dies = calls === dieAt;
    if (dies && !after) dead = true;
    if (dead) throw new Killed();
    const result = await work();
    if (dies) dead = true;
    if (dead) throw new Killed();
    return result;
  };
  const pass = passOf(RULES, look, () => ({ evaluator: collectorId, evaluated_at: clock.now() }));
  const evaluator = createEvaluator({
    rules: RULES,
    pass: (asOfMs, groups) => mortal(() => pass(asOfMs, groups)),
    store: {
      query: <T>(sql: string) => mortal(() => store.query<T>(sql)),
      insert: (table, rows) => mortal(() => store.insert(table, rows)),
    },
    collectorId,
    clock,
    page: { externalUrl: '' },
    onChange() {
      if (dead) return;
      for (const { fingerprint, status, startsAt, endsAt } of evaluator.alerts(clock.now() / 1000) ?? []) {
        const when = status === 'firing' ? startsAt : endsAt;
        offered.add(`${fingerprint} ${status} ${when.toISOString()}`);
      }
    },
  });
  const { signal } = new AbortController();
  return {
    evaluator,
    async tick() {
      while (await evaluator.run(signal));
    },
  };
}

/** When it last fired, where this is news: whoever loads an old state may know it longer than who did not. */
const TIMES = ['firing_since', 'resolved_at'].map(
  (column) =>
    `if(state = 'Pending' OR (state = 'Normal' AND ifNull(resolved_at != evaluated_at, 1)), NULL, ${column}) AS known_${column}`,
);

async function outcome() {
  const rows = await store.query(
    `SELECT * EXCEPT (evaluated_at, evaluator, took_ms) FROM alert_evaluations ORDER BY rule, as_of, gateway, label`,
  );
  const history = await store.query(
    `SELECT * EXCEPT (collector_id, firing_since, resolved_at), ${TIMES.join(', ')} FROM alert_history ORDER BY rule_uid, labels, changed_at, state`,
  );
  const states = await store.query(
    `SELECT * EXCEPT (collector_id, firing_since, resolved_at), ${TIMES.join(', ')} FROM alert_states ORDER BY rule_uid, labels`,
  );
  return { rows, history, states };
}

const clockAtStart = async () => {
  const clock = createFakeClock();
  // Just after 10:18: the slow rule has two turns.
  await clock.advance(3 * MINUTE - ((clock.now() / 1000) % MINUTE) + 3_000);
  return clock;
};

async function uninterrupted() {
  await empty();
  const offered: Offered = new Set();
  const clock = await clockAtStart();
  const { tick } = live(clock, 'one', offered, Infinity, false);
  for (let minute = 0; minute < MINUTES; minute++) {
    await tick();
    await clock.advance(MINUTE);
  }
  return { ...(await outcome()), offered };
}

it('nothing is missing, doubled or changed after 200 kills at any point, and no page is lost that is not over', async () => {
  const expected = await uninterrupted();
  expect(new Set(expected.rows.map((row) => (row as { as_of: string }).as_of)).size).toBe(MINUTES);
  expect([...expected.offered].filter((text) => text.includes('resolved')).length).toBeGreaterThan(5);
  const random = createRandom('kills');
  let kills = 0;
  for (let run = 0; run < RUNS; run++) {
    await empty();
    const offered: Offered = new Set();
    const clock = await clockAtStart();
    let left = KILLS;
    const born = () =>
      live(
        clock,
        random.pick(['one', 'two']),
        offered,
        left > 0 ? random.int(1, 8) : Infinity,
        random.chance(0.5),
      );
    // Nobody knows of instants before the first one that is stored.
    await live(clock, 'one', offered, Infinity, false).tick();
    let life = born();
    for (let minute = 0; ;) {
      const alive = await life.tick().then(
        () => true,
        (error: unknown) => {
          if (error instanceof Killed) return false;
          throw error;
        },
      );
      if (alive && minute === MINUTES - 1) break;
      if (!alive) {
        kills += 1;
        left -= 1;
        life = born();
      }
      // After a kill somebody goes on at once or, in every other run, minutes later.
      const pause = run % 2 === 0 ? 0 : random.pick([0, 0, 0, 1, 3]);
      const passed = Math.min(alive ? 1 : pause, MINUTES - 1 - minute);
      minute += passed;
      await clock.advance(passed * MINUTE);
    }
    const { rows, history, states } = await outcome();
    expect(rows).toEqual(expected.rows);
    expect(states).toEqual(expected.states);
    expect(history).toEqual(expected.history);
    // Receivers need not learn of what began and ended while nobody was there.
    if (run % 2 === 0) expect([...offered].toSorted()).toEqual([...expected.offered].toSorted());
    else expect([...offered].filter((one) => !expected.offered.has(one))).toEqual([]);
  }
  expect(kills).toBeGreaterThanOrEqual(200);
});

it('two at once do no harm', async () => {
  const expected = await uninterrupted();
  await empty();
  const offered: Offered = new Set();
  const clock = await clockAtStart();
  const lives = ['one', 'two'].map((id) => live(clock, id, offered, Infinity, false));
  for (let minute = 0; minute < MINUTES; minute++) {
    await Promise.all(lives.map(({ tick }) => tick()));
    await clock.advance(MINUTE);
  }
  expect(await outcome()).toEqual({
    rows: expected.rows,
    history: expected.history,
    states: expected.states,
  });
  expect([...offered].toSorted()).toEqual([...expected.offered].toSorted());
});

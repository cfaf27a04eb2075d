import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createJobsLease, type Lease, leaseToWrite } from '../../jobs/lease.ts';
import type { Store } from '../../store/store.ts';
import type { TestStore } from '../support/embedded.ts';
import { emptyDatabase, openStore } from '../support/migrated-store.ts';
import { withTemplate } from '../support/migrated-folder.ts';

const lease = (holder: string, takenAt: number, notifies = true): Lease => ({ holder, notifies, takenAt });
const self = { holder: 'b', notifies: true };

describe('who runs the jobs', () => {
  it('whoever finds nobody takes the lease, and keeps it', () => {
    expect(leaseToWrite([], self, 5)).toEqual(lease('b', 5));
    expect(leaseToWrite([lease('b', 5)], self, 65)).toEqual(lease('b', 5));
  });

  it('whoever comes later waits, even with a clock that is behind', () => {
    expect(leaseToWrite([lease('a', 5)], self, 1)).toBeNull();
    expect(leaseToWrite([lease('a', 5, false)], { ...self, notifies: false }, 1)).toBeNull();
  });

  it('whoever notifies goes before one that does not', () => {
    expect(leaseToWrite([lease('a', 5, false)], self, 9)).toEqual(lease('b', 9));
    expect(
      leaseToWrite([lease('a', 5, false), lease('b', 9)], { holder: 'a', notifies: false }, 10),
    ).toBeNull();
  });

  it('goes on at once after a restart', () => {
    expect(leaseToWrite([lease('b', 5)], self, 20)).toEqual(lease('b', 5));
    expect(leaseToWrite([lease('b', 5, false), lease('a', 3, false)], self, 20)).toEqual(lease('b', 5));
  });

  it('of all that have one, exactly one keeps it', () => {
    const some = fc.uniqueArray(
      fc.record({ holder: fc.string({ minLength: 1 }), takenAt: fc.nat(3), notifies: fc.boolean() }),
      { selector: ({ holder }) => holder, minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(some, (live) => {
        const kept = live.filter(
          ({ holder, notifies }) => leaseToWrite(live, { holder, notifies }, 9) !== null,
        );
        expect(kept).toHaveLength(1);
      }),
    );
  });
});

describe('in a store', () => {
  let embedded: TestStore;
  let store: Store;
  beforeAll(async () => {
    embedded = await withTemplate('migrated');
    store = openStore(embedded, { database: 'gatewatch' });
  });
  beforeEach(() => emptyDatabase(store));
  afterAll(async () => {
    await store.close();
    await embedded.stop();
  });
  let micros = 1_790_000_000_000_000;
  let takesRows = true;
  const holderOf = (collectorId: string, notifies = true) =>
    createJobsLease({
      query: (sql) => store.query(sql),
      command: (sql) => (takesRows ? store.command(sql) : Promise.reject(new Error('disk full'))),
      collectorId,
      notifies,
      now: () => (micros += 1),
    });
  /** As if nobody had renewed anything for this long. */
  const age = async (seconds: number) => {
    const aged = `SELECT * REPLACE (updated_at - INTERVAL ${seconds} SECOND AS updated_at) FROM jobs_store FINAL`;
    await store.command('CREATE TABLE aged ENGINE = Memory AS ' + aged);
    await store.command('TRUNCATE TABLE jobs_store');
    await store.command('INSERT INTO jobs_store SELECT * FROM aged');
    await store.command('DROP TABLE aged');
  };

  it('one of two has it, is gone, and the other one takes over', async () => {
    const [a, b] = [holderOf('a'), holderOf('b')];
    expect(await a.check()).toBe(true);
    expect(await b.check()).toBe(false);
    await age(60);
    expect(await b.check()).toBe(false);
    await age(60);
    expect(await b.check()).toBe(true);
    expect(await a.check()).toBe(false);
  });

  it('is renewed by each check, although the row is the same', async () => {
    const a = holderOf('a');
    await a.check();
    await age(80);
    expect(await a.check()).toBe(true);
    await age(80);
    expect(await holderOf('b').check()).toBe(false);
  });

  it('goes to whoever notifies, from whoever does not', async () => {
    const silent = holderOf('a', false);
    expect(await silent.check()).toBe(true);
    const telling = holderOf('b');
    expect(await telling.check()).toBe(true);
    expect(await silent.check()).toBe(false);
  });

  it('is kept while the store takes no rows, and not taken', async () => {
    const a = holderOf('a');
    await a.check();
    takesRows = false;
    try {
      expect(await a.check()).toBe(true);
      await expect(holderOf('c', true).check()).resolves.toBe(false);
      await age(100);
      await expect(holderOf('c', true).check()).rejects.toThrow('disk full');
    } finally {
      takesRows = true;
    }
  });

  it('has one row for each holder', async () => {
    const a = holderOf('a');
    for (let check = 0; check < 5; check++) await a.check();
    const rows = await store.query('SELECT job, part, notifies, done_batch FROM jobs_store FINAL');
    expect(rows).toEqual([{ job: 'run jobs', part: 'a', notifies: true, done_batch: 0 }]);
  });
});

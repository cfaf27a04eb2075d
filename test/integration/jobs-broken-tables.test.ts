import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { FINDING_TABLES, MARK_TABLES, PAYMENT_COUNT_TABLES, VIEWS } from '../../schemas/names.ts';
import { schemaStatements } from '../../store/migrate.ts';
import { createStore, type Store } from '../../store/store.ts';
import {
  type CollectorProcess,
  readerPassword,
  startCollectorProcess,
} from '../support/collector-process.ts';
import { writerSecret } from '../support/store-process.ts';
import { until } from '../support/until.ts';
import { gatewayConfig, postCallback } from './support/gateway.ts';

/**
 * One story of tables that break beneath a running collector: first that of the job which runs first,
 * then those of all others. They run once a minute, one after the other, and none may hold back the next.
 */

interface Job {
  readonly tables: readonly string[];
  /** The table that gets a row whenever the job has done its work. */
  readonly progress: string;
  /** The message in the log when it could not. */
  readonly failure: string;
}

/** Its table is read by evaluations as well, so it can be read and takes no rows: that concerns it alone. */
const MARKS: Job = {
  tables: [MARK_TABLES.frontier],
  progress: MARK_TABLES.frontier,
  failure: 'marks of orders could not be kept; the next attempt catches up',
};
const OTHERS: readonly Job[] = [
  {
    tables: [PAYMENT_COUNT_TABLES.passes, PAYMENT_COUNT_TABLES.counts, PAYMENT_COUNT_TABLES.totals],
    progress: PAYMENT_COUNT_TABLES.passes,
    failure: 'payments could not be counted; the next attempt catches up',
  },
  {
    tables: [FINDING_TABLES.frontier],
    progress: FINDING_TABLES.frontier,
    failure: 'the sources about orders could not be compared; the next attempt catches up',
  },
];
const REFUSING = 'takes_no_rows';

describe('a collector whose jobs find their tables broken', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let store: Store;
  beforeAll(async () => {
    sandbox = await createSandbox();
    const config = { gateways: [gatewayConfig(sandbox)] };
    collector = await startCollectorProcess({ config });
    await useStore();
    const frontier = MARKS.progress;
    await store.command(`ALTER TABLE ${frontier} ADD CONSTRAINT ${REFUSING} CHECK 0`);
    await store.command(`TRUNCATE TABLE ${frontier}`);
    await collector.stop();
    collector = await startCollectorProcess({ config, folder: collector.folder });
    await useStore();
  });
  afterAll(async () => {
    await store?.close();
    await collector?.[Symbol.asyncDispose]();
    await sandbox?.stop();
  });

  /** The writer's door of the store that runs now. */
  async function useStore(): Promise<void> {
    await store?.close();
    const password = writerSecret(collector.dataDir);
    store = createStore({ url: collector.store, username: 'gatewatch', password });
  }

  const rows = async (from: string): Promise<number> =>
    (await store.query<{ n: number }>(`SELECT count() AS n FROM ${from}`))[0]?.n ?? 0;
  const atLeastOne = (from: string) =>
    until(
      `rows of ${from}`,
      () => rows(from),
      (n) => n > 0,
    );

  async function expectFailure({ failure }: Job, message: string): Promise<void> {
    await until(failure, () => collector.logged(failure).length, Boolean);
    const [line] = collector.logged(failure);
    expect(line).toMatchObject({ level: 'error', err: { message: expect.stringContaining(message) } });
    const { dataDir } = collector;
    for (const secret of [
      sandbox.token,
      sandbox.callbackKey,
      writerSecret(dataDir),
      readerPassword(dataDir),
    ]) {
      expect(secret).not.toBe('');
      expect(JSON.stringify(line)).not.toContain(secret);
    }
  }

  /** Callbacks and replies are taken in and can be read, and rules are evaluated. */
  async function expectTheRestToGoOn(): Promise<void> {
    const minute = Math.floor(Date.now() / 60_000) * 60;
    expect((await fetch(`${collector.http}/readyz`)).status).toBe(200);
    expect((await fetch(`${collector.http}/metrics`)).status).toBe(200);
    const { externalId } = sandbox.seedOrder({
      status: 'Success',
      items: [{ action: '4.3.1.00', offsetMs: -9 }],
    });
    const watched = await fetch(`${collector.http}/orders`, {
      method: 'POST',
      body: JSON.stringify({ orderType: 'Deposit', externalId }),
      headers: { 'Content-Type': 'application/json' },
    });
    expect(watched.status).toBe(202);
    const url = `${collector.intake}/callbacks/sandbox`;
    expect((await postCallback(url, { externalId }, sandbox.callbackKey)).status).toBe(200);
    for (const view of [VIEWS.callbacks, VIEWS.historyEvents])
      await atLeastOne(`${view} WHERE external_id = '${externalId}'`);
    await atLeastOne(`${VIEWS.alertEvaluations} WHERE as_of >= ${minute}`);
  }

  it('logs each in one line, and all else goes on, the job too once its table is back', async () => {
    await expectFailure(
      MARKS,
      'insert into gatewatch.order_marks_frontier: rows refused, ClickHouse error 469 VIOLATED_CONSTRAINT',
    );
    await expectTheRestToGoOn();
    for (const job of OTHERS) await atLeastOne(job.progress);
    await store.command(`ALTER TABLE ${MARKS.progress} DROP CONSTRAINT ${REFUSING}`);
    const tables = [...new Set(OTHERS.flatMap((job) => job.tables))];
    for (const table of tables) await store.command(`DROP TABLE ${table} SYNC`);
    for (const job of OTHERS) {
      // Whether it reads or writes the table first: it may have been at work when the table went.
      await expectFailure(job, 'refused by the store, ClickHouse error 60 UNKNOWN_TABLE');
      expect(collector.logged(job.failure)).toHaveLength(1);
    }
    await expectTheRestToGoOn();
    for (const table of tables) await store.command(await creationOf(table));
    for (const job of [MARKS, ...OTHERS]) await atLeastOne(job.progress);
    const errors = collector
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(new Set(errors)).toEqual(new Set([MARKS, ...OTHERS].map(({ failure }) => failure)));
  }, 600_000);
});

/** The statement that makes a table. */
async function creationOf(table: string): Promise<string> {
  const found = (await schemaStatements()).find((text) =>
    text.includes(`CREATE TABLE IF NOT EXISTS ${table}\n`),
  );
  if (found === undefined) throw new Error(`nothing makes ${table}`);
  return found;
}

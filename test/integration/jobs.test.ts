import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/server.ts';
import { type JobName, JOBS, TABLES, VIEWS } from '../../schemas/names.ts';
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
 * One story of jobs whose progress the store does not take, one after the other: none may hold back another,
 * nor what the collector is there for.
 */

/** What the log says of a job that could not be done. */
const FAILURE = 'a job failed; its next run catches up';
const REFUSING = 'takes_no_rows';

describe('a collector whose jobs cannot note their progress', () => {
  let sandbox: Sandbox;
  let collector: CollectorProcess;
  let store: Store;
  beforeAll(async () => {
    sandbox = await createSandbox();
    const config = { gateways: [gatewayConfig(sandbox)] };
    collector = await startCollectorProcess({ config });
    await useStore();
    await refuse(JOBS.payments);
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

  async function refuse(name: JobName): Promise<void> {
    await store.command(`ALTER TABLE ${TABLES.jobs} ADD CONSTRAINT ${REFUSING} CHECK job != '${name}'`);
    await store.command(`TRUNCATE TABLE ${TABLES.jobs}`);
  }
  const accept = (): Promise<void> => store.command(`ALTER TABLE ${TABLES.jobs} DROP CONSTRAINT ${REFUSING}`);
  const progress = (name: JobName): Promise<number> => atLeastOne(`${TABLES.jobs} WHERE job = '${name}'`);
  const rows = async (from: string): Promise<number> =>
    (await store.query<{ n: number }>(`SELECT count() AS n FROM ${from}`))[0]?.n ?? 0;
  const atLeastOne = (from: string) =>
    until(
      `rows of ${from}`,
      () => rows(from),
      (n) => n > 0,
    );

  const failuresOf = (name: JobName) => collector.logged(FAILURE).filter(({ job }) => job === name);

  async function expectFailure(name: JobName, why: string): Promise<void> {
    await until(`the failure to ${name}`, () => failuresOf(name).length, Boolean);
    const [line] = failuresOf(name);
    expect(line).toMatchObject({ level: 'error', err: { message: expect.stringContaining(why) } });
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

  it('logs each in one line, and does all else, the job too once the store takes it', async () => {
    const refused =
      'insert into gatewatch.jobs_store (job, part, done_to): rows refused, ClickHouse error 469 VIOLATED_CONSTRAINT';
    await expectFailure(JOBS.payments, refused);
    await expectTheRestToGoOn();
    await progress(JOBS.findings);
    await accept();
    await refuse(JOBS.findings);
    await expectFailure(JOBS.findings, refused);
    expect(failuresOf(JOBS.findings)).toHaveLength(1);
    await expectTheRestToGoOn();
    await progress(JOBS.payments);
    await accept();
    await progress(JOBS.findings);
    const errors = collector
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":"error"'))
      .map((line) => JSON.parse(line) as { job: string; msg: string });
    const expected = [JOBS.payments, JOBS.findings].map((job) => `${job}: ${FAILURE}`);
    expect(new Set(errors.map(({ job, msg }) => `${job}: ${msg}`))).toEqual(new Set(expected));
  }, 600_000);
});

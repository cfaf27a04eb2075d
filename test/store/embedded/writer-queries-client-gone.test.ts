import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Connection, Engine } from '../../../store/embedded/engine.ts';
import { createWriterQueries } from '../../../store/embedded/writer-queries.ts';
import { readRequestParams } from '../../../store/embedded/request-params.ts';
import type { Answer } from '../../../store/embedded/response.ts';
import { openSpool, type Spool } from '../../../store/embedded/spool.ts';

let folder: string;
let spool: Spool;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gatewatch-gone-'));
  spool = openSpool(path.join(folder, 'spool'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NO_ANSWER: Answer = {
  started: false,
  begin: () => undefined,
  write: async () => undefined,
  end: async () => undefined,
  fail: async () => undefined,
};

/** An engine that has begun the statement only after some attempts to kill it have found nothing. */
function slowToBegin(missedKills: number): { engine: Engine; asked: Promise<void>; kills: () => number } {
  let kills = 0;
  const asked = Promise.withResolvers<void>();
  const statement = Promise.withResolvers<never>();
  const connection: Connection = {
    tag: 'gatewatch-request-1',
    run: () => {
      asked.resolve();
      return statement.promise;
    },
    stream: () => {
      throw new Error('not asked for');
    },
    analyze: async () => ({ statementCount: 1, queryClass: 0 }),
    kill: async () => {
      kills += 1;
      if (kills > missedKills) statement.reject(new Error('QUERY_WAS_CANCELLED'));
    },
  };
  const engine: Engine = {
    version: '26.7',
    formats: new Map([['json', { input: true, output: true }]]),
    analyze: async () => ({ statementCount: 1, queryClass: 0 }),
    withConnection: (_setup, work) => work(connection),
    withUsedConnection: (_setup, work) => work(connection),
    close: async () => undefined,
  };
  return { engine, asked: asked.promise, kills: () => kills };
}

it.each([0, 1, 3])('a statement is ended though %i attempts came before it began', async (missedKills) => {
  const { engine, asked, kills } = slowToBegin(missedKills);
  const { handle } = createWriterQueries(engine, spool);
  const gone = new AbortController();
  const answered = handle({
    mayWrite: false,
    params: readRequestParams([['query', 'SELECT 1']], { database: undefined, format: 'JSON' }),
    body: Readable.from([]),
    answer: NO_ANSWER,
    gone: gone.signal,
  });
  await asked;
  gone.abort();
  await expect(answered).rejects.toThrow('QUERY_WAS_CANCELLED');
  expect(kills()).toBe(missedKills + 1);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAlertStates } from '../../../alerts/evaluate/states-now.ts';
import { until } from '../../support/until.ts';

const HOUR = 3_600_000;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-alert-states-'));
  const rules = ['A', 'B'].map((name) => ({
    uid: name,
    title: `Gatewatch${name}`,
    condition: 'number',
    for: '0s',
    noDataState: 'OK',
    execErrState: 'KeepLast',
    data: [{ refId: 'number', model: { rawSql: `SELECT '${name}' AS gateway, value`, format: 1 } }],
  }));
  const file = { apiVersion: 1, groups: [{ name: 'fast', interval: '1m', rules }] };
  writeFileSync(join(folder, 'rules.yaml'), JSON.stringify(file));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('does not show how the rules stood when somebody last looked, long ago', async () => {
  let now = 0;
  let value = 0;
  let busy: Promise<void> | undefined;
  const states = createAlertStates({
    rulesFolder: folder,
    async query() {
      await busy;
      const meta = [
        { name: 'gateway', type: 'String' },
        { name: 'value', type: 'Float64' },
      ];
      return { meta, data: [{ gateway: 'acme-eu', value }] };
    },
    now: () => now,
    monotonicMs: () => now,
    firstAnswerTimeoutMs: 1,
  });
  const complete = () =>
    until('all rules are looked at', states, ({ looked, rules, asOf }) => looked === rules && asOf === now);
  expect((await complete()).alerts).toEqual([]);

  now += 30_000;
  const store = Promise.withResolvers<void>();
  busy = store.promise;
  value = 1;
  // A moment ago is good enough while the rules are looked at again.
  expect(await states()).toMatchObject({ looked: 2, asOf: 0 });
  store.resolve();
  expect((await complete()).alerts).toHaveLength(2);

  now += 8 * HOUR;
  const slow = Promise.withResolvers<void>();
  busy = slow.promise;
  expect(await states()).toMatchObject({ alerts: [], looked: 0, rules: 2, asOf: null });
  slow.resolve();
  expect((await complete()).alerts).toHaveLength(2);
});

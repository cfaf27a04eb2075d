import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../../schemas/findings.ts';
import { cli } from './support/cli.ts';
import { migratedStore, type MigratedStore } from './support/seeded-order.ts';

let db: MigratedStore;
let env: Record<string, string>;
const insert = (id: string, kind: string, ago: string, resolved = 'NULL'): Promise<void> =>
  db.store.command(
    `INSERT INTO findings_store SELECT 'acme-eu', 'Deposit', '${id}', '${kind}', 'reply', now64(6) - ${ago}, 'gateway', 'Success', 'Failed', [('reply', now64(6) - ${ago}, 'Failed')], ${resolved}, now64(6)`,
  );
beforeAll(async () => {
  db = await migratedStore();
  env = { GATEWATCH_DATA_DIR: db.embedded.dataDir };
  await insert('order-1', 'STATUS_DISAGREES', 'INTERVAL 1 HOUR');
  await insert('order-2', 'HISTORY_REWRITTEN', 'INTERVAL 2 HOUR', 'now64(6)');
  await insert('order-3', 'REPLAYED', 'INTERVAL 3 DAY');
});
afterAll(() => db.stop());

interface Shown {
  readonly findings: readonly Finding[];
  readonly total: number;
  readonly open: number;
}
const json = async (...args: string[]): Promise<{ code: number | null; shown: Shown }> => {
  const { code, stdout } = await cli(['findings', '--json', ...args], { env });
  return { code, shown: JSON.parse(stdout) as Shown };
};
const ids = ({ shown }: { shown: Shown }) => shown.findings.map((one) => one.external_id);

describe('gatewatch findings', () => {
  test('shows what was found in the last day, newest first, and exits with 0', async () => {
    const { code, stdout } = await cli(['findings'], { env });
    expect(stdout).toMatch(
      /^found \(UTC\) +gateway +order +kind +subject +side +expected +received +resolved$/m,
    );
    expect(stdout).toMatch(
      /acme-eu +order-1 +STATUS_DISAGREES +reply +gateway +Success +Failed +open\n.*order-2/,
    );
    expect(stdout).toContain('2 found, 1 open.');
    expect(code).toBe(0);
  });

  test('narrows by time, kind, side, order and what is open', async () => {
    expect(ids(await json('--since', '7d'))).toEqual(['order-1', 'order-2', 'order-3']);
    expect(ids(await json('--kind', 'history_rewritten,REPLAYED'))).toEqual(['order-2']);
    expect(ids(await json('--open'))).toEqual(['order-1']);
    expect(ids(await json('--side', 'stranger'))).toEqual([]);
    expect(ids(await json('--order', 'order-3'))).toEqual(['order-3']);
    expect(ids(await json('--gateway', 'other'))).toEqual([]);
    expect((await json('--limit', '1')).shown).toMatchObject({ total: 2, open: 1 });
  });

  test('gives machines all columns, times as ISO 8601', async () => {
    const { shown } = await json('--open');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string;
    expect(shown.findings).toEqual([
      {
        gateway: 'acme-eu',
        order_type: 'Deposit',
        external_id: 'order-1',
        kind: 'STATUS_DISAGREES',
        subject: 'reply',
        found_at: time,
        side: 'gateway',
        expected: 'Success',
        received: 'Failed',
        evidence: [{ source: 'reply', at: time, what: 'Failed' }],
        resolved_at: null,
      },
    ]);
  });

  test('with --check exits with 1 when something is open, else with 0', async () => {
    expect((await json('--check')).code).toBe(1);
    expect((await json('--check', '--kind', 'HISTORY_REWRITTEN')).code).toBe(0);
  });

  test('refuses a kind that there is none of with 2', async () => {
    const { code, stderr } = await cli(['findings', '--kind', 'ODD'], { env });
    expect(stderr).toContain('CALLBACK_MISSING');
    expect(code).toBe(2);
  });
});

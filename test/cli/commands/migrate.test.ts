import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMigrator } from '../../../store/migrate.ts';
import { createStore } from '../../../store/store.ts';
import { withEmbedded, type TestStore } from '../../support/embedded.ts';
import { cli } from './support/cli.ts';

let embedded: TestStore;
let env: Record<string, string>;

beforeAll(async () => {
  embedded = await withEmbedded();
  env = { GATEWATCH_DATA_DIR: embedded.dataDir };
});
afterAll(() => embedded.stop());

describe('migrate', () => {
  test('--dry-run prints every statement and changes nothing', async () => {
    const { code, stdout, stderr } = await cli(['migrate', '--dry-run'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('-- tables');
    expect(stdout).toContain('CREATE TABLE IF NOT EXISTS history_events_store');
    expect(stdout).toContain('CREATE OR REPLACE VIEW orders');
    expect(stdout).toContain('TTL toDateTime(started_at) + toIntervalDay(30)');
    expect(stderr).toContain('Nothing was changed.');
    const databases = await cli(['sql', 'SHOW DATABASES', '--write'], {
      env: { ...env, GATEWATCH_CLICKHOUSE_DATABASE: 'default', ...login() },
    });
    expect(databases.stdout).not.toContain('gatewatch');
  });

  test('brings the store up to date, once', async () => {
    const first = await cli(['migrate'], { env });
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(/^Done: tables, views\.\n$/);
    const second = await cli(['migrate', '--json'], { env });
    expect(JSON.parse(second.stdout)).toMatchObject({ dryRun: false, steps: [] });
    expect(second.stderr).toBe('The store is up to date.\n');
  });

  test('--grants --dry-run prints roles and policies as SQL, and needs no store', async () => {
    const nowhere = { GATEWATCH_CLICKHOUSE_URL: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await cli(['migrate', '--grants', '--gateway', 'acme-eu', '--dry-run'], {
      env: nowhere,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing was changed.\n' });
    expect(stdout).toContain('CREATE ROLE IF NOT EXISTS `gatewatch_analyst_acme-eu`;');
    expect(stdout).toContain("USING gateway = 'acme-eu' TO `gatewatch_analyst_acme-eu`;");
  });

  test('--grants refuses the embedded store, which keeps no roles', async () => {
    const { code, stderr } = await cli(['migrate', '--grants'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('keeps no roles');
  });

  test('changes nothing on a store that is up to date, so that a collector needs no right to', async () => {
    await cli(['migrate'], { env });
    const store = createStore({ url: embedded.url, ...embedded.writer });
    const commands: string[] = [];
    const watched = { ...store, command: async (sql: string) => void commands.push(sql) };
    const migrator = createMigrator({ store: watched });
    await migrator.run();
    await store.close();
    expect(commands).toEqual([]);
  });

  test('follows the configured retention', async () => {
    const file = join(embedded.dataDir, 'retention.yaml');
    writeFileSync(file, 'retention: { pollsDays: 7, historyDays: 0 }\n');
    const { code, stdout } = await cli(['migrate', '--dry-run', '--config', file], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('ALTER TABLE polls_store MODIFY TTL toDateTime(started_at) + toIntervalDay(7)');
    expect(stdout).toContain('ALTER TABLE history_events_store REMOVE TTL');
    expect(stdout).not.toContain('rejects_store');
  });
});

function login(): Record<string, string> {
  return {
    GATEWATCH_CLICKHOUSE_URL: embedded.url,
    GATEWATCH_CLICKHOUSE_USER: embedded.writer.username,
    GATEWATCH_CLICKHOUSE_PASSWORD: embedded.writer.password,
  };
}

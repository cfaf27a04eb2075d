import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { poll, sinkOf } from '../../operate/audit/support.ts';
import { cli, cliOnTerminal } from './support/cli.ts';
import { migratedStore, type MigratedStore } from './support/seeded-order.ts';

let db: MigratedStore;
let env: Record<string, string>;
beforeAll(async () => {
  db = await migratedStore();
  env = { GATEWATCH_DATA_DIR: db.embedded.dataDir };
  const sink = sinkOf(db.store);
  await sink.write({ polls: [poll('p1')] }, { replies: 1 });
  await sink.write({ polls: [poll('p2')] }, { replies: 1 });
  await sink.stop(1000);
});
afterAll(() => db.stop());

describe('gatewatch audit', () => {
  test('draws the books, says that they balance and exits with 0', async () => {
    const { code, stdout, stderr } = await cli(['audit'], { env });
    expect(stdout).toMatch(/^identity +accepted +stored +rejected +repeats +difference +not acknowledged$/m);
    expect(stdout).toMatch(/^replies +2 +2 +0 +0 +0 +0$/m);
    expect(stdout).toContain('Nothing is missing, nothing counted twice.');
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  test('looks back as far as asked', async () => {
    const { stdout } = await cli(['audit', '--since', '1s', '--json'], { env });
    const { identities } = JSON.parse(stdout) as { identities: { identity: string; accepted: number }[] };
    expect(identities.find((one) => one.identity === 'replies')?.accepted).toBe(0);
    const wrong = await cli(['audit', '--since', 'yesterday'], { env });
    expect(wrong.stderr).toContain('such as 90m or 7d');
    expect(wrong.code).toBe(2);
  });

  test('says where something is missing, and exits with 1', async () => {
    await db.store.command(`ALTER TABLE polls_store DELETE WHERE poll_id = 'p2' SETTINGS mutations_sync = 2`);
    const { code, stdout } = await cliOnTerminal(['audit'], { env });
    expect(stdout).toContain('The books do not balance:');
    expect(stdout).toContain('replies: collector-1 batch 2: accepted 1, stored 0, rejected 0');
    expect(code).toBe(1);
    const json = await cli(['audit', '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false });
    expect(json.code).toBe(1);
  });
});

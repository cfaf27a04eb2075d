import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { planDerivedViews, readDerivedViews } from '../../store/derived-views.ts';
import { createMigrator, schemaStatements } from '../../store/migrate.ts';
import { VIEW_FILES } from '../../store/package-files.ts';
import { createStore, type Store } from '../../store/store.ts';
import { type TestStore, withEmbedded } from './embedded.ts';

/** Named by the environment, as the helpers that use it also run outside vitest. */
const VARIABLE = 'GATEWATCH_TEST_TEMPLATES';

/**
 * `migrated`: as a collector leaves a store at its first start. `timeless`: the schema alone, without
 * retention, for rows of long ago.
 */
export type TemplateName = 'migrated' | 'timeless';

const BUILD: Record<TemplateName, (store: Store) => Promise<void>> = {
  async migrated(store) {
    await createMigrator({ store }).run();
  },
  async timeless(store) {
    await store.command(`CREATE DATABASE ${store.database}`, { database: '' });
    for (const statement of await schemaStatements()) await store.command(statement);
    // As the migrator makes them in this engine: with the rights of who made them.
    const views = await readDerivedViews(VIEW_FILES);
    for (const statement of await planDerivedViews(store, views)) await store.command(statement);
    const kept = await store.query<{ name: string }>(
      `SELECT name FROM system.tables WHERE database = '${store.database}' AND engine_full LIKE '% TTL %'`,
      {},
      { database: 'system' },
    );
    for (const { name } of kept) await store.command(`ALTER TABLE ${name} REMOVE TTL`);
  },
};

/** vitest `globalSetup`: a folder of the run for stores to copy, each made when the first test needs it. */
export async function setup(): Promise<void> {
  process.env[VARIABLE] ??= await mkdtemp(join(tmpdir(), 'gatewatch-templates-'));
}

export async function teardown(): Promise<void> {
  await rm(process.env[VARIABLE] ?? '', { recursive: true, force: true });
}

/** An engine of the test's own whose schema is in place, in a folder of its own. */
export async function withTemplate(name: TemplateName): Promise<TestStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatewatch-store-'));
  const copied = await copyTemplate(name, dataDir);
  const embedded = await withEmbedded({ dataDir });
  if (!copied) await build(name, embedded);
  return {
    ...embedded,
    async stop() {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Puts a store with the schema into a data folder that has none: a copy takes a tenth of what migrations do.
 * Returns false where there are no templates, as outside vitest.
 */
export async function copyTemplate(name: TemplateName, dataDir: string): Promise<boolean> {
  const folder = process.env[VARIABLE];
  if (folder === undefined || !existsSync(folder)) return false;
  const template = join(folder, name);
  if (!existsSync(template)) await make(name, template);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Links are relative and stay so, which Node's own copy would change.
  await promisify(execFile)('cp', ['-a', template, join(dataDir, 'clickhouse')]);
  return true;
}

/** Workers may do so at once: the first one's counts. */
async function make(name: TemplateName, template: string): Promise<void> {
  const dataDir = await mkdtemp(`${template}-`);
  const embedded = await withEmbedded({ dataDir });
  await build(name, embedded);
  await embedded.stop();
  await rename(join(dataDir, 'clickhouse'), template).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(dataDir, { recursive: true, force: true });
}

async function build(name: TemplateName, embedded: TestStore): Promise<void> {
  const store = createStore({ url: embedded.url, ...embedded.writer });
  await BUILD[name](store);
  await store.close();
}

import { sleep } from '../schemas/deadline.ts';
import type { Migration } from './migrations.ts';
import { readMigrations, schemaError } from './migrations.ts';
import { planRetention } from './retention.ts';
import type { RetentionDays } from './retention.ts';
import type { Store } from './store.ts';
import { isStatementRace } from './store-error.ts';

export interface MigratorOptions {
  store: Store;
  /** Folder of the numbered SQL files. */
  directory: string;
  /** Days to keep each kind of row. @default DEFAULT_RETENTION_DAYS */
  retention?: Partial<RetentionDays>;
}

export interface MigrationPlan {
  /** Version in the store before; 0 for none. */
  readonly from: number;
  readonly to: number;
  /** Statements in the order in which they would run. */
  readonly steps: readonly { readonly title: string; readonly statements: readonly string[] }[];
}

export interface Migrator {
  /** What `run` would do, without doing it. */
  plan(): Promise<MigrationPlan>;
  /**
   * Brings the store up to date. Safe to repeat and to run from several processes at once. Returns what was
   * done.
   */
  run(): Promise<MigrationPlan>;
}

interface Applied {
  version: number;
  name: string;
  checksum: string;
}

const RECORD_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations
(
    version UInt32,
    name String,
    checksum String,
    applied_at DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplacingMergeTree
ORDER BY version`;

/**
 * Forward-only migrations from numbered SQL files. ClickHouse has no transaction around DDL: every statement
 * is safe to repeat, and a version is recorded after its last statement, so that a run which was cut off, or
 * a second collector starting at the same moment, repeats statements without harm.
 *
 * `plan` and `run` throw GatewatchError `store_schema` when an applied file has changed since, or when the
 * store was migrated by a newer version than this one.
 */
export function createMigrator({ store, directory, retention = {} }: MigratorOptions): Migrator {
  async function applied(): Promise<Applied[]> {
    const known = await store.query<{ present: number }>(
      `SELECT count() AS present FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'`,
      { database: store.database },
      { database: 'system' },
    );
    if ((known[0]?.present ?? 0) === 0) return [];
    return store.query<Applied>(
      'SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version',
    );
  }

  async function pending(): Promise<{ from: number; todo: readonly Migration[]; all: readonly Migration[] }> {
    const all = await readMigrations(directory);
    const done = await applied();
    for (const row of done) compare(all, row);
    const versions = new Set(done.map((row) => row.version));
    return { from: Math.max(0, ...versions), todo: all.filter(({ version }) => !versions.has(version)), all };
  }

  async function plan(): Promise<MigrationPlan> {
    const { from, todo, all } = await pending();
    const steps = todo.map(({ version, name, statements }) => ({
      title: titleOf(version, name),
      statements,
    }));
    const ttl = await planRetention(store, retention, from === 0);
    if (ttl.length > 0) steps.push({ title: 'retention', statements: ttl });
    return { from, to: all.length, steps };
  }

  async function run(): Promise<MigrationPlan> {
    // A collector that may change no table starts on a store that another user has migrated.
    const planned = await plan();
    if (planned.steps.length === 0) return planned;
    await store.command(`CREATE DATABASE IF NOT EXISTS ${quoteName(store.database)}`, { database: '' });
    await repeatable(RECORD_TABLE);
    const { from, todo, all } = await pending();
    const steps: { title: string; statements: readonly string[] }[] = [];
    for (const { version, name, checksum, statements } of todo) {
      for (const statement of statements) await repeatable(statement);
      await store.command(
        `INSERT INTO schema_migrations (version, name, checksum) SELECT ${version}, '${name}', '${checksum}'`,
      );
      steps.push({ title: titleOf(version, name), statements });
    }
    const ttl = await planRetention(store, retention, false);
    for (const statement of ttl) await repeatable(statement);
    if (ttl.length > 0) steps.push({ title: 'retention', statements: ttl });
    return { from, to: all.length, steps };
  }

  /**
   * Two runs at once can trip over each other in the engine's catalogue; the second try finds the work done.
   * A statement that copies a table may take minutes.
   */
  async function repeatable(statement: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store.command(statement, { patient: true });
      } catch (error) {
        if (attempt >= RACE_ATTEMPTS || !isStatementRace(error)) throw error;
        await sleep(RACE_PAUSE_MS * attempt);
      }
    }
  }

  return { plan, run };
}

const RACE_ATTEMPTS = 8;
const RACE_PAUSE_MS = 50;

function compare(all: readonly Migration[], done: Applied): void {
  const file = all[done.version - 1];
  if (file === undefined) {
    throw schemaError(
      `the store is at version ${done.version} (${done.name}), this gatewatch knows up to ${all.length}: run the newer release`,
    );
  }
  if (file.checksum !== done.checksum) {
    throw schemaError(
      `migration ${titleOf(file.version, file.name)} was changed after it had been applied: restore the file and put the change into a new one`,
    );
  }
}

function titleOf(version: number, name: string): string {
  return `${String(version).padStart(4, '0')}_${name}`;
}

function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}

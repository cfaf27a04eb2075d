import { sleep } from '../schemas/deadline.ts';
import { planDerivedViews, readDerivedViews, withoutViews, type DerivedView } from './derived-views.ts';
import type { Migration } from './migrations.ts';
import { readMigrations, schemaError } from './migrations.ts';
import { DERIVED_VIEW_FILES, MIGRATIONS_FOLDER } from './package-files.ts';
import { planRetention } from './retention.ts';
import type { RetentionDays } from './retention.ts';
import { quoteIdentifier } from './sql/quote.ts';
import type { Store } from './store.ts';
import { isStatementRace } from './store-error.ts';

export interface MigratorOptions {
  store: Store;
  /** Folder of the numbered SQL files. @default that of the package */
  directory?: string;
  /** Files with the definitions of views that hold no rows. @default those of the package */
  viewFiles?: readonly string[];
  /** Days to keep each kind of row. @default DEFAULT_RETENTION_DAYS */
  retention?: Partial<RetentionDays>;
}

export interface MigrationStep {
  readonly title: string;
  readonly statements: readonly string[];
}

export interface MigrationPlan {
  /** Version in the store before; 0 for none. */
  readonly from: number;
  readonly to: number;
  /** Statements in the order in which they would run. */
  readonly steps: readonly MigrationStep[];
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
 * Numbered SQL files for tables, forward only; then the derived views and the retention, wherever they differ
 * from what they should be. ClickHouse has no transaction around DDL: every statement is safe to repeat, and
 * a version is recorded after its last statement, so that a run which was cut off, or a second collector that
 * starts at the same moment, repeats statements without harm.
 *
 * `plan` and `run` throw GatewatchError `store_schema` when an applied file has changed since, or when the
 * store was migrated by a newer version than this one.
 */
export function createMigrator(options: MigratorOptions): Migrator {
  return { plan: () => plan(options), run: () => run(options) };
}

/** Every statement that makes the schema of this version in an empty database. */
export async function schemaStatements({
  directory = MIGRATIONS_FOLDER,
  viewFiles = DERIVED_VIEW_FILES,
}: Pick<MigratorOptions, 'directory' | 'viewFiles'> = {}): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const views = await readDerivedViews(viewFiles);
  return [
    ...migrations.flatMap(({ statements }) => withoutViews(statements, views)),
    ...views.map(({ definition }) => definition),
  ];
}

async function plan(options: MigratorOptions): Promise<MigrationPlan> {
  const views = await readDerivedViews(options.viewFiles ?? DERIVED_VIEW_FILES);
  const { from, to, todo } = await pendingOf(options, views);
  const repeated = await repeatedSteps(options, views, from === 0);
  return { from, to, steps: [...todo.map(stepOf), ...repeated] };
}

async function run(options: MigratorOptions): Promise<MigrationPlan> {
  // A collector that may change no table starts on a store that another user has migrated.
  const planned = await plan(options);
  if (planned.steps.length === 0) return planned;
  const { store } = options;
  await store.command(`CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(store.database)}`, { database: '' });
  await repeatable(store, RECORD_TABLE);
  // Another process may have come this far meanwhile.
  const views = await readDerivedViews(options.viewFiles ?? DERIVED_VIEW_FILES);
  const { from, to, todo } = await pendingOf(options, views);
  for (const migration of todo) {
    for (const statement of migration.statements) await repeatable(store, statement);
    await store.command(recordOf(migration));
  }
  const repeated = await repeatedSteps(options, views, false);
  for (const { statements } of repeated)
    for (const statement of statements) await repeatable(store, statement);
  return { from, to, steps: [...todo.map(stepOf), ...repeated] };
}

interface Pending {
  readonly from: number;
  readonly to: number;
  readonly todo: readonly Migration[];
}

async function pendingOf(
  { store, directory = MIGRATIONS_FOLDER }: MigratorOptions,
  views: readonly DerivedView[],
): Promise<Pending> {
  const all = await readMigrations(directory);
  const done = await appliedTo(store);
  for (const row of done) compare(all, row);
  const versions = new Set(done.map((row) => row.version));
  const todo = all
    .filter(({ version }) => !versions.has(version))
    .map((migration) => ({ ...migration, statements: withoutViews(migration.statements, views) }));
  return { from: Math.max(0, ...versions), to: all.length, todo };
}

async function appliedTo(store: Store): Promise<Applied[]> {
  const known = await store.query<{ present: number }>(
    `SELECT count() AS present FROM system.tables WHERE database = {database:String} AND name = 'schema_migrations'`,
    { database: store.database },
    { database: 'system' },
  );
  if ((known[0]?.present ?? 0) === 0) return [];
  return store.query<Applied>('SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version');
}

/** What is compared with the store at every start, instead of being recorded. */
async function repeatedSteps(
  { store, retention = {} }: MigratorOptions,
  views: readonly DerivedView[],
  isNew: boolean,
): Promise<MigrationStep[]> {
  const changed = await planDerivedViews(store, views);
  const ttl = await planRetention(store, retention, isNew);
  return [
    { title: 'views', statements: changed },
    { title: 'retention', statements: ttl },
  ].filter(({ statements }) => statements.length > 0);
}

/**
 * Two runs at once can trip over each other in the engine's catalogue; the second try finds the work done. A
 * statement that copies a table may take minutes.
 */
async function repeatable(store: Store, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store.command(statement, { long: true });
    } catch (error) {
      if (attempt >= RACE_ATTEMPTS || !isStatementRace(error)) throw error;
      await sleep(RACE_PAUSE_MS * attempt);
    }
  }
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

const stepOf = ({ version, name, statements }: Migration): MigrationStep => ({
  title: titleOf(version, name),
  statements,
});

const recordOf = ({ version, name, checksum }: Migration): string =>
  `INSERT INTO schema_migrations (version, name, checksum) SELECT ${version}, '${name}', '${checksum}'`;

function titleOf(version: number, name: string): string {
  return `${String(version).padStart(4, '0')}_${name}`;
}

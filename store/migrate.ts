import { sleep } from '../schemas/deadline.ts';
import type { Definition } from './definitions.ts';
import { planDerivedViews, readDerivedViews } from './derived-views.ts';
import { TABLES_FOLDER, VIEW_FILES } from './package-files.ts';
import { planRetention } from './retention.ts';
import type { RetentionDays } from './retention.ts';
import { quoteIdentifier } from './sql/quote.ts';
import type { Store } from './store.ts';
import { isStatementRace } from './store-error.ts';
import { planTables, readTables } from './tables.ts';

export interface MigratorOptions {
  store: Store;
  /** Folder with one file for each table. @default that of the package */
  directory?: string;
  /** Files with the definitions of views that hold no rows. @default those of the package */
  viewFiles?: readonly string[];
  /** Days to keep each kind of row. @default DEFAULT_RETENTION_DAYS */
  retention?: Partial<RetentionDays>;
}

export interface MigrationStep {
  readonly title: 'tables' | 'views' | 'retention';
  readonly statements: readonly string[];
}

export interface MigrationPlan {
  /** Statements in the order in which they would run; no step: the store is up to date. */
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

/**
 * Tables that are not there yet; then the derived views and the retention, wherever they differ from what
 * they should be. ClickHouse has no transaction around DDL: every statement is safe to repeat, so that a run
 * which was cut off, or a second collector that starts at the same moment, repeats statements without harm.
 *
 * `plan` and `run` throw GatewatchError `store_schema` when another version has made a table.
 */
export function createMigrator(options: MigratorOptions): Migrator {
  return { plan: () => plan(options), run: () => run(options) };
}

/** Every statement that makes the schema of this version in an empty database. */
export async function schemaStatements({
  directory = TABLES_FOLDER,
  viewFiles = VIEW_FILES,
}: Pick<MigratorOptions, 'directory' | 'viewFiles'> = {}): Promise<string[]> {
  const [tables, views] = await Promise.all([readTables(directory), readDerivedViews(viewFiles)]);
  return [...tables, ...views].map(({ statement }) => statement);
}

async function plan(options: MigratorOptions): Promise<MigrationPlan> {
  const { store, directory = TABLES_FOLDER, viewFiles = VIEW_FILES, retention = {} } = options;
  const tables = await readTables(directory);
  const steps: MigrationStep[] = [
    { title: 'tables', statements: await planTables(store, tables) },
    { title: 'views', statements: await planDerivedViews(store, await readDerivedViews(viewFiles)) },
    { title: 'retention', statements: await planRetention(store, retention, ttlOf(tables)) },
  ];
  return { steps: steps.filter(({ statements }) => statements.length > 0) };
}

async function run(options: MigratorOptions): Promise<MigrationPlan> {
  // A collector that may change no table starts on a store that another user has migrated.
  const planned = await plan(options);
  if (planned.steps.length === 0) return planned;
  const { store } = options;
  await store.command(`CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(store.database)}`, { database: '' });
  for (const { statements } of planned.steps)
    for (const statement of statements) await repeatable(store, statement);
  return planned;
}

/** What a table that is still to be made will look like. */
const ttlOf = (tables: readonly Definition[]): ReadonlyMap<string, string> =>
  new Map(tables.map(({ name, statement }) => [name, statement]));

/**
 * Two runs at once can trip over each other in the engine's catalogue; the second try finds the work done.
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

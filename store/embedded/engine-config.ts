import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoteIdentifier } from '../sql/quote.ts';
import { allowedSystemTables } from './reader/allowed-tables.ts';

/** Folders and files of the embedded store inside its data folder. */
export interface StorePaths {
  /** The engine's own folder, which it locks. */
  readonly engine: string;
  /** The process's working directory: all that a relative path in a statement can reach. */
  readonly work: string;
  /** Bodies of inserts and results on their way, in the working directory; emptied at every start. */
  readonly spool: string;
  /** Folder of the process that judges readers' statements; it holds nothing worth keeping. */
  readonly policy: string;
  readonly config: string;
  readonly users: string;
  readonly secret: string;
  readonly readerSecret: string;
  /** The key of fingerprints: with it every masked text could be tried out. */
  readonly fingerprintKey: string;
  readonly connection: string;
}

export function storePaths(dataDir: string): StorePaths {
  return {
    engine: join(dataDir, 'clickhouse'),
    work: join(dataDir, 'work'),
    spool: join(dataDir, 'work', 'spool'),
    policy: join(dataDir, 'gate'),
    config: join(dataDir, 'clickhouse-config.xml'),
    users: join(dataDir, 'clickhouse-users.xml'),
    secret: join(dataDir, 'writer.secret'),
    readerSecret: join(dataDir, 'reader.secret'),
    fingerprintKey: join(dataDir, 'fingerprint.key'),
    connection: join(dataDir, 'embedded.json'),
  };
}

/** Role of the engine that a reader's connection is narrowed to, whatever the gate has let through. */
export const readerRole = 'gatewatch_reader_role';
const writerRole = 'gatewatch_writer_role';

/**
 * Settings of every connection. Statements may override what is not in `pinnedSettings`.
 * The engine's newer defaults would acknowledge an insert before its rows are stored (`async_insert`).
 */
const baseSettings = {
  async_insert: 0,
  wait_for_async_insert: 1,
  implicit_select: 0,
  session_timezone: 'UTC',
  mutations_sync: 1,
  alter_sync: 1,
  default_table_engine: 'MergeTree',
  // Views run with the rights of who made them, so that readers need none to the tables beneath (decision
  // 33).
  default_normal_view_sql_security: 'DEFINER',
} as const;

/** Settings that no request may change. */
export const pinnedSettings: ReadonlySet<string> = new Set([
  'async_insert',
  'wait_for_async_insert',
  'implicit_select',
  'log_comment',
  'storage_file_read_method',
]);

export interface EngineConfigOptions {
  readonly fsync: boolean;
  /** What the reader's role may read, each as `database.name`; nothing else has rows for it. */
  readonly readerViews: readonly string[];
}

/** Writes the engine's configuration and gives the arguments for a connection to it. */
export function writeEngineConfig(paths: StorePaths, options: EngineConfigOptions): string[] {
  for (const folder of [paths.engine, paths.work, paths.spool])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(paths.config, configXml(paths, options.fsync), { mode: 0o600 });
  writeFileSync(paths.users, usersXml(options.readerViews), { mode: 0o600 });
  return [
    `--config-file=${paths.config}`,
    ...Object.entries(baseSettings).map(([name, value]) => `--${name}=${value}`),
  ];
}

// A small store: the default caches and thread pools are sized for a server with the machine to itself. Of
// threads that wait for work eight are kept, not a thousand: 140 of them held 40 MB at hand.
// Idle, each table's merge task first looked for work ten times a second, and once more for queues that no
// table here has; an insert wakes it all the same. Memory was compared with the system's count twenty times
// a second.
// A merge takes in all the small parts that it was found for: by default it leaves out those under a
// hundredth of the whole, and then each new part is merged with the whole table alone (decision 24).
// Merges can wait, inserts and questions cannot. Merges are not synced to the disk: what they replace stays
// until the system has written them there by itself, as on a ClickHouse server, for the library's own default
// is to remove it at once. Nor do merges count the distinct values of each column: no question here asks for
// them.
function configXml(paths: StorePaths, fsync: boolean): string {
  const durable = fsync ? 1 : 0;
  return `<clickhouse>
  <users_config>${xml(paths.users)}</users_config>
  <user_files_path>${xml(paths.work)}</user_files_path>
  <timezone>UTC</timezone>
  <mark_cache_size>67108864</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>4</background_pool_size>
  <background_schedule_pool_size>8</background_schedule_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_streaming_schedule_pool_size>0</background_streaming_schedule_pool_size>
  <background_processing_pool_thread_sleep_seconds_if_nothing_to_do>5</background_processing_pool_thread_sleep_seconds_if_nothing_to_do>
  <max_thread_pool_free_size>8</max_thread_pool_free_size>
  <memory_worker_period_ms>500</memory_worker_period_ms>
  <os_threads_nice_value_merge_mutate>10</os_threads_nice_value_merge_mutate>
  <merge_tree>
    <fsync_after_insert>${durable}</fsync_after_insert>
    <fsync_part_directory>${durable}</fsync_part_directory>
    <auto_statistics_types></auto_statistics_types>
    <old_parts_lifetime>120</old_parts_lifetime>
    <merge_selector_enable_heuristic_to_remove_small_parts_at_right>0</merge_selector_enable_heuristic_to_remove_small_parts_at_right>
    <number_of_free_entries_in_pool_to_execute_mutation>2</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>2</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>2</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`;
}

// One user, because the engine authenticates nobody; what a connection may do is narrowed by SET ROLE.
// The role has the public views and no source, and no other table. Tables of `system` ask no grant in this
// engine: a condition on each row of all of them, those of a later version too, leaves the reader without any
// but on the tables of the list.
function usersXml(readerViews: readonly string[]): string {
  const systemTables = allowedSystemTables.flatMap(({ names }) => names);
  const grants = readerViews.map((view) => `GRANT SELECT ON ${quotedName(view)}`);
  const element = (name: string, content: string): string => `<${name}>${content}</${name}>`;
  const rows = (table: string, condition: string): string =>
    `<table name="${table}"><filter>${condition}</filter></table>`;
  return `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <roles>
    <${writerRole}><grants><query>GRANT ALL ON *.*</query></grants></${writerRole}>
    <${readerRole}><grants>
${grants.map((grant) => `      ${element('query', xml(grant))}`).join('\n')}
    </grants></${readerRole}>
  </roles>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT ${writerRole}, ${readerRole}</query></grants>
      <databases><database name="system">
        ${rows(ALL_TABLES, `has(currentRoles(), '${writerRole}')`)}
${systemTables.map((table) => `        ${rows(table, '1')}`).join('\n')}
      </database></databases>
    </default>
  </users>
</clickhouse>
`;
}

/** The engine's mark for a condition on all tables of a database. */
const ALL_TABLES = '';

function quotedName(view: string): string {
  const dot = view.indexOf('.');
  return `${quoteIdentifier(view.slice(0, dot))}.${quoteIdentifier(view.slice(dot + 1))}`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

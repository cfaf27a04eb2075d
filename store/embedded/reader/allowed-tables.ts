import {
  DATABASE,
  FINDING_TABLES,
  PAGE_VIEWS,
  PAYMENT_COUNT_TABLES,
  TABLES,
} from '../../../schemas/names.ts';
import type { AllowedNames } from './allowed-functions.ts';

/** Functions in the place of a table that a reader may use. */
export const allowedTableFunctions: readonly AllowedNames[] = [
  {
    reason: 'Rows made of their own arguments: axes of panels, lists to join with.',
    names: ['numbers', 'numbers_mt', 'generateSeries', 'generate_series', 'values'],
  },
  {
    reason: 'A subquery in the place of a table; what is in it is judged like everything else.',
    names: ['view'],
  },
  {
    reason: 'The public views with parameters, which are called like functions.',
    names: PAGE_VIEWS.flatMap((name) => [name, `${DATABASE}.${name}`]),
  },
];

/** Tables of the database `system` that a reader may read. */
export const allowedSystemTables: readonly AllowedNames[] = [
  {
    reason: 'Clients, BI tools and the Grafana plugin list databases, tables and columns with them.',
    names: ['databases', 'tables', 'columns', 'table_engines', 'data_type_families'],
  },
  {
    reason: 'Editors complete names with them, and clients learn what this engine knows.',
    names: [
      'functions',
      'table_functions',
      'aggregate_function_combinators',
      'formats',
      'settings',
      'keywords',
      'collations',
      'time_zones',
      'build_options',
      'contributors',
      'licenses',
    ],
  },
  { reason: 'Rows out of nothing: `SELECT 1 FROM system.one`.', names: ['one', 'numbers'] },
];

/** The tables behind the views, and what the collector keeps for itself. */
export function isInternalTable(name: string): boolean {
  const lower = name.toLowerCase();
  return lower.endsWith('_store') || lower.startsWith('.inner') || INTERNAL.has(lower);
}

const INTERNAL: ReadonlySet<string> = new Set(
  [TABLES, FINDING_TABLES, PAYMENT_COUNT_TABLES].flatMap((some) => Object.values(some)),
);

import { clickhouseError } from '../clickhouse-error.ts';
import type { ReaderLimits } from '../reader-limits.ts';
import { fits, settingKind } from './allowed-settings.ts';

/** Bounds on what one statement becomes when the engine takes it in: no request changes them. */
const FIXED = {
  max_query_size: '4194304',
  max_ast_elements: '50000',
  max_expanded_ast_elements: '100000',
  max_subquery_depth: '60',
  max_temporary_data_on_disk_size_for_query: '1073741824',
  // What comes in has to be stored, whatever is asked.
  min_free_disk_space_for_temporary_data: '2147483648',
  // Inserts have 1, and go first.
  priority: '10',
} as const;

/** Of a statement's memory: what fits is not slowed down, and to put things onto the disk takes some, too. */
const SPILL_AT_SHARE = 0.75;

/**
 * The settings of a reader's connection: the limits, what the request asked for within them, and fixed
 * bounds.
 *
 * @param asked in the order of the request; the last of a name counts
 * @throws ClickHouseError 164 for a setting that a reader may not choose, 457 for a value of the wrong form
 */
export function readerSettings(
  asked: Iterable<readonly [string, string]>,
  limits: ReaderLimits,
): Map<string, string> {
  const bounds: Readonly<Record<string, number>> = {
    max_execution_time: limits.maxExecutionSeconds,
    max_memory_usage: limits.maxMemoryBytes,
    max_result_bytes: limits.maxResultBytes,
    max_result_rows: limits.maxResultRows,
    max_threads: limits.maxThreads,
  };
  const settings = new Map(Object.entries(bounds).map(([name, bound]) => [name, String(bound)]));
  for (const [name, value] of asked) {
    const kind = settingKind(name);
    if (kind === null) throw clickhouseError(164, `Cannot modify '${name}' setting in readonly mode.`);
    // Judged before, and written anew.
    if (kind !== 'table filters' && !fits(kind, value)) {
      throw clickhouseError(
        457,
        `The value of the setting ${name} cannot be used by a reader: expected a ${kind}.`,
      );
    }
    settings.set(name, kind === 'limit' ? within(value, bounds[name] ?? 0) : value);
  }
  for (const [name, value] of Object.entries(FIXED)) settings.set(name, value);
  // A month of all orders is more than that memory holds: it goes by way of the disk, which takes longer, and
  // is answered.
  const spillAt = Math.floor(Number(settings.get('max_memory_usage')) * SPILL_AT_SHARE);
  for (const work of ['group_by', 'sort']) settings.set(`max_bytes_before_external_${work}`, String(spillAt));
  return settings;
}

/** 0 means "no limit" to the engine; a request that asks for it gets ours. */
function within(value: string, bound: number): string {
  const wanted = Number(value);
  return String(wanted > 0 ? Math.min(wanted, bound) : bound);
}

import type { ColumnKind, ConsoleFrame } from '../../schemas/console.ts';
import type { TableResult } from '../../store/store.ts';

/** What the ClickHouse plugin would make of a result: typed columns, times as epoch milliseconds. */
export function toFrame(refId: string, format: number, { meta = [], data }: TableResult): ConsoleFrame {
  const columns = meta.map(({ name, type }) => {
    const kind = kindOf(type);
    return { name, kind, values: data.map((row) => valueOf(kind, row[name])) };
  });
  return { refId, format, columns };
}

/** Kind of a ClickHouse type, as the plugin maps it. */
export function kindOf(type: string): ColumnKind {
  const inner = type.replace(/^(?:LowCardinality|Nullable|SimpleAggregateFunction\(\w+, ?)\((.*)\)$/, '$1');
  if (inner !== type) return kindOf(inner);
  if (/^(?:U?Int\d+|Float\d+|BFloat16|Decimal)/.test(type)) return 'number';
  if (/^(?:DateTime|Date)/.test(type)) return 'time';
  if (type === 'Bool') return 'boolean';
  if (/^(?:String|FixedString|Enum|UUID|IPv[46])/.test(type)) return 'text';
  return 'other';
}

function valueOf(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  // Wide integers and decimals may come as text.
  if (kind === 'number') return Number.isFinite(Number(value)) ? Number(value) : null;
  if (kind === 'time') return epochMs(String(value));
  if (kind === 'text') return String(value);
  return value;
}

/** ClickHouse writes times without a zone; the store's are UTC. */
function epochMs(text: string): number | null {
  const iso = text.length <= 10 ? `${text}T00:00:00` : text.replace(' ', 'T');
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? iso : `${iso}Z`);
  return Number.isNaN(ms) ? null : ms;
}

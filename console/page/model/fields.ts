import type { ColumnKind, ConsoleFrame } from '../../../schemas/console.ts';
import type { CustomConfig, FieldConfig, Override, Panel } from './types.ts';

/** A column with its labels and the configuration that the panel gives it. */
export interface Field {
  /** The column's own name. */
  readonly name: string;
  /** What people read. */
  readonly title: string;
  readonly kind: ColumnKind;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: readonly unknown[];
  readonly config: FieldConfig;
  readonly refId: string;
  /** What colour scales and gauges reach over: as configured, else what the panel's numbers reach over. */
  readonly range: readonly [low: number, high: number];
}

/** Fields of equal length: one table, or series over one time. */
export interface Frame {
  readonly fields: readonly Field[];
  readonly length: number;
}

type Bare = Pick<Field, 'name' | 'kind' | 'labels' | 'values' | 'refId'>;

/** A panel's frames as Grafana would have them: series made wide, names and overrides applied. */
export function toFrames(panel: Panel, answered: readonly ConsoleFrame[]): Frame[] {
  const wide = answered.map((frame) => (frame.format === 0 ? longToWide(frame) : bare(frame)));
  const onlyLabel = singleLabel(wide.flat());
  const all = extent(wide.flat());
  return wide.map((fields) => {
    const length = fields[0]?.values.length ?? 0;
    return { fields: numbered(fields.map((field) => configure(panel, field, onlyLabel, all))), length };
  });
}

/** Lowest and highest number; 0 and 100 when there is none. */
function extent(fields: readonly Bare[]): readonly [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { kind, values } of fields)
    if (kind === 'number')
      for (const value of values as readonly (number | null)[])
        if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 100];
}

const bare = ({ columns, refId }: ConsoleFrame): Bare[] =>
  columns.map(({ name, kind, values }) => ({ name, kind, values, labels: {}, refId }));

/** Time, texts and numbers become one series for each set of texts; cells that had no row are null. */
function longToWide(frame: ConsoleFrame): Bare[] {
  const { columns, refId } = frame;
  const time = columns.find(({ kind }) => kind === 'time');
  const labels = columns.filter(({ kind }) => kind === 'text');
  const numbers = columns.filter(({ kind }) => kind === 'number' || kind === 'boolean');
  if (time === undefined || labels.length === 0 || numbers.length === 0) return bare(frame);
  const times: unknown[] = [];
  const series = new Map<string, { labels: Record<string, string>; cells: unknown[][] }>();
  time.values.forEach((instant, row) => {
    if (times.length === 0 || times.at(-1) !== instant) times.push(instant);
    const own = Object.fromEntries(labels.map(({ name, values }) => [name, String(values[row] ?? '')]));
    const key = JSON.stringify(own);
    let entry = series.get(key);
    if (entry === undefined) {
      entry = { labels: own, cells: numbers.map(() => []) };
      series.set(key, entry);
    }
    numbers.forEach(({ values }, index) => {
      const cells = entry.cells[index];
      if (cells !== undefined) cells[times.length - 1] = values[row];
    });
  });
  const filled = (cells: unknown[]): unknown[] => times.map((_, index) => cells[index] ?? null);
  const wide = numbers.flatMap(({ name, kind }, index) =>
    [...series.values()].map((one) => ({
      name,
      kind,
      labels: one.labels,
      values: filled(one.cells[index] ?? []),
      refId,
    })),
  );
  return [{ name: time.name, kind: 'time', labels: {}, values: times, refId }, ...wide];
}

/** The label's name when all series have only that one. */
function singleLabel(fields: readonly Bare[]): string | null {
  const names = new Set(fields.flatMap(({ labels }) => Object.keys(labels)));
  return names.size === 1 ? ([...names][0] ?? null) : null;
}

/** A series' name without configuration: column and labels. */
function seriesName(field: Bare, onlyLabel: string | null): string {
  if (field.kind === 'time') return field.name;
  const entries = Object.entries(field.labels);
  if (entries.length === 0) return field.name;
  if (onlyLabel !== null) return `${field.name} ${field.labels[onlyLabel] ?? ''}`.trim();
  const text = entries.toSorted().map(([name, value]) => `${name}="${value}"`);
  return `${field.name} {${text.join(', ')}}`;
}

function configure(
  panel: Panel,
  field: Bare,
  onlyLabel: string | null,
  all: readonly [number, number],
): Field {
  const name = seriesName(field, onlyLabel);
  let config: FieldConfig = panel.fieldConfig?.defaults ?? {};
  for (const override of panel.fieldConfig?.overrides ?? [])
    if (matches(override, field, name)) config = override.properties.reduce(setProperty, config);
  const title = config.displayName === undefined ? name : fieldText(config.displayName, field);
  const [low, high] = all;
  return { ...field, title, config, range: [config.min ?? low, config.max ?? high] };
}

function matches({ matcher }: Override, field: Bare, name: string): boolean {
  const { id, options } = matcher;
  if (id === 'byName') return options === field.name || options === name;
  return id === 'byRegexp' && toRegExp(String(options)).test(name);
}

/** `/pattern/flags`, as Grafana writes them. */
function toRegExp(text: string): RegExp {
  const [, pattern = '', flags] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? [];
  return new RegExp(pattern, flags);
}

/** Sets `unit`, or `custom.width`; null takes a property away. */
function setProperty(
  config: FieldConfig,
  property: { readonly id: string; readonly value?: unknown },
): FieldConfig {
  const { id, value } = property;
  if (!id.startsWith('custom.')) return { ...config, [id]: value ?? undefined };
  const custom: CustomConfig = { ...config.custom, [id.slice('custom.'.length)]: value };
  return { ...config, custom };
}

/** `${__field.labels.gateway}` in a display name. */
const fieldText = (text: string, field: Bare): string =>
  text.replace(/\$\{__field\.labels\.(\w+)\}/g, (_, label: string) => field.labels[label] ?? '').trim();

/** Equal titles get a number, so that a legend distinguishes them. */
function numbered(fields: readonly Field[]): Field[] {
  const seen = new Map<string, number>();
  const total = new Map<string, number>();
  for (const { title } of fields) total.set(title, (total.get(title) ?? 0) + 1);
  return fields.map((field) => {
    if ((total.get(field.title) ?? 0) < 2) return field;
    const number = (seen.get(field.title) ?? 0) + 1;
    seen.set(field.title, number);
    return { ...field, title: `${field.title} ${number}` };
  });
}

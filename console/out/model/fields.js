import { toRegExp } from './mappings.js';

/** A column with its labels and the configuration that the panel gives it. */

/** Fields of equal length: one table, or series over one time. */

/** A panel's frames as Grafana would have them: series made wide, names and overrides applied. */
export function toFrames(panel       , answered                         )          {
  const wide = answered.map((frame) => (frame.format === 0 ? longToWide(frame) : bare(frame)));
  const onlyLabel = singleLabel(wide.flat());
  const all = extent(wide.flat());
  return wide.map((fields) => {
    const length = fields[0]?.values.length ?? 0;
    return { fields: numbered(fields.map((field) => configure(panel, field, onlyLabel, all))), length };
  });
}

/** Lowest and highest number; 0 and 100 when there is none. */
function extent(fields                 )                            {
  let [low, high] = [Infinity, -Infinity];
  for (const { kind, values } of fields)
    if (kind === 'number')
      for (const value of values                              )
        if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 100];
}

const bare = ({ columns, refId }              )         =>
  columns.map(({ name, kind, values }) => ({ name, kind, values, labels: {}, refId }));

/** Time, texts and numbers become one series for each set of texts; cells that had no row are null. */
function longToWide(frame              )         {
  const { columns, refId } = frame;
  const time = columns.find(({ kind }) => kind === 'time');
  const labels = columns.filter(({ kind }) => kind === 'text');
  const numbers = columns.filter(({ kind }) => kind === 'number' || kind === 'boolean');
  if (time === undefined || labels.length === 0 || numbers.length === 0) return bare(frame);
  const times            = [];
  const series = new Map                                                                ();
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
  const filled = (cells           )            => times.map((_, index) => cells[index] ?? null);
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
function singleLabel(fields                 )                {
  const names = new Set(fields.flatMap(({ labels }) => Object.keys(labels)));
  return names.size === 1 ? ([...names][0] ?? null) : null;
}

/** A series' name without configuration: column and labels. */
function seriesName(field      , onlyLabel               )         {
  if (field.kind === 'time') return field.name;
  const entries = Object.entries(field.labels);
  if (entries.length === 0) return field.name;
  if (onlyLabel !== null) return `${field.name} ${field.labels[onlyLabel] ?? ''}`.trim();
  const text = entries.toSorted().map(([name, value]) => `${name}="${value}"`);
  return `${field.name} {${text.join(', ')}}`;
}

function configure(
  panel       ,
  field      ,
  onlyLabel               ,
  all                           ,
)        {
  const name = seriesName(field, onlyLabel);
  let config              = panel.fieldConfig?.defaults ?? {};
  for (const override of panel.fieldConfig?.overrides ?? [])
    if (matches(override, field, name)) config = override.properties.reduce(setProperty, config);
  const title = config.displayName === undefined ? name : fieldText(config.displayName, field, name);
  const [low, high] = config.fieldMinMax === true ? extent([field]) : all;
  return { ...field, title, config, range: [config.min ?? low, config.max ?? high] };
}

function matches({ matcher }          , field      , name        )          {
  const { id, options } = matcher;
  switch (id) {
    case 'byName':
      return options === field.name || options === name;
    case 'byRegexp':
      return toRegExp(String(options)).test(name);
    case 'byType':
      return options === (field.kind === 'text' ? 'string' : field.kind);
    case 'byFrameRefID':
      return options === field.refId;
    case 'byNames': {
      const { names = [], mode } = (options ?? {})                                                ;
      const named = names.includes(name) || names.includes(field.name);
      return mode === 'exclude' ? !named : named;
    }
    default:
      return false;
  }
}

/** Sets `unit`, or `custom.width`; null takes a property away. */
function setProperty(
  config             ,
  property                                                   ,
)              {
  const { id, value } = property;
  if (!id.startsWith('custom.')) return { ...config, [id]: value ?? undefined };
  const [first = '', second] = id.slice('custom.'.length).split('.');
  const custom               = config.custom ?? {};
  const before = (custom                           )[first];
  const inner = second === undefined ? value : { ...(before                      ), [second]: value };
  return { ...config, custom: { ...custom, [first]: inner } };
}

/** `${__field.labels.gateway}` and `${__field.name}` in a display name. */
function fieldText(text        , field      , name        )         {
  return text
    .replace(
      /\$\{__field\.labels(?:\.(\w+)|\["([^"]+)"\])\}/g,
      (_, a         , b         ) => field.labels[a ?? b ?? ''] ?? '',
    )
    .replace(/\$\{__field\.(?:name|displayName)\}|\$\{__series\.name\}/g, name)
    .trim();
}

/** Equal titles get a number, so that a legend tells them apart. */
function numbered(fields                  )          {
  const seen = new Map                ();
  const total = new Map                ();
  for (const { title } of fields) total.set(title, (total.get(title) ?? 0) + 1);
  return fields.map((field) => {
    if ((total.get(field.title) ?? 0) < 2) return field;
    const number = (seen.get(field.title) ?? 0) + 1;
    seen.set(field.title, number);
    return { ...field, title: `${field.title} ${number}` };
  });
}

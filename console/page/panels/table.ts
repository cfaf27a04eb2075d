import { mix, readable, SURFACE, textOn } from '../model/colours.ts';
import { display } from '../model/display.ts';
import type { Field, Frame } from '../model/fields.ts';
import { plainText } from '../model/units.ts';
import { h, style } from '../ui/dom.ts';
import { textWidth } from '../ui/measure.ts';
import { anchor, cellLinks, type Drawn, type PanelContext } from './context.ts';

interface Sort {
  readonly column: string;
  readonly descending: boolean;
}

/** More rows than anybody reads; queries have limits below it. */
const MOST_ROWS = 1000;

/** Rows and columns, with coloured cells, links, and sorting by any column. */
export function drawTable(context: PanelContext): Drawn {
  const { panel, body, frames, memory } = context;
  const frame = frames[0];
  const fields = frame?.fields ?? [];
  if (frame === undefined || frame.length === 0 || fields.length === 0) return { summary: '', empty: true };
  const sort = (memory.get('sort') as Sort | undefined) ?? null;
  const rows = sortedRows(frame, fields, sort).slice(0, MOST_ROWS);

  const table = h(
    'table',
    { class: 'data' },
    h('caption', { class: 'visually-hidden' }, panel.title ?? 'Table'),
  );
  const widths = columnWidths(context, fields);
  style(table, { 'min-width': `${widths.reduce((sum, width) => sum + width, 0)}px` });
  table.append(h('colgroup', {}, ...widths.map((width) => style(h('col'), { width: `${width}px` }))));
  table.append(h('thead', {}, h('tr', {}, ...fields.map((field) => headerOf(field, sort, context)))));
  table.append(
    h(
      'tbody',
      {},
      ...rows.map((row) => h('tr', {}, ...fields.map((field) => cellOf(context, frame, field, row)))),
    ),
  );
  body.append(
    h(
      'div',
      { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': `${panel.title ?? 'Table'}, rows` },
      table,
    ),
  );
  return { summary: `Table of ${frame.length} rows.` };
}

const [MOST_WIDTH, PADDING] = [360, 22];

interface Column {
  /** With room enough: as configured, yet no title is cut; or what the cells need. */
  readonly wanted: number;
  /** Without: as configured, or what still shows the beginning of a text. */
  readonly least: number;
  readonly grows: boolean;
}

/**
 * Widths that fill the panel. Where they cannot, texts are cut first and then the table is wider than its
 * panel.
 */
function columnWidths({ theme, width: room }: PanelContext, fields: readonly Field[]): number[] {
  const columns = fields.map((field): Column => {
    const title = textWidth(`${field.title} ▲`, '600 13px') + PADDING;
    const { width } = field.config.custom ?? {};
    if (width !== undefined) return { wanted: Math.max(width, title), least: width, grows: false };
    const cells = field.values
      .slice(0, 60)
      .map((value) => textWidth(plainText(display(field, value, theme)), '13px') + PADDING);
    const wanted = Math.max(title, Math.min(Math.max(...cells), MOST_WIDTH));
    return { wanted, least: Math.min(wanted, Math.max(title, 230)), grows: true };
  });
  const sum = (pick: (column: Column) => number): number =>
    columns.reduce((total, one) => total + pick(one), 0);
  const spare = room - sum(({ wanted }) => wanted);
  if (spare >= 0) {
    const growing = sum(({ grows }) => Number(grows));
    return columns.map(({ wanted, grows }) => Math.floor(wanted + (grows ? spare / growing : 0)));
  }
  const elastic = sum(({ wanted, least }) => wanted - least);
  const share = elastic === 0 ? 0 : Math.min(-spare / elastic, 1);
  return columns.map(({ wanted, least }) => Math.floor(wanted - (wanted - least) * share));
}

const isNumeric = (field: Field): boolean =>
  field.config.custom?.align === 'right' ||
  (['auto', undefined].includes(field.config.custom?.align) && field.kind === 'number');

function headerOf(field: Field, sort: Sort | null, { memory, redraw }: PanelContext): HTMLElement {
  const sorted = sort?.column === field.title;
  const direction = sorted ? (sort.descending ? 'descending' : 'ascending') : null;
  const onclick = (): void => {
    // Ascending, descending, as it came.
    if (!sorted) memory.set('sort', { column: field.title, descending: field.kind === 'number' });
    else if (sort.descending === (field.kind === 'number'))
      memory.set('sort', { ...sort, descending: !sort.descending });
    else memory.set('sort', { column: '', descending: false });
    redraw();
  };
  const arrow = direction === null ? '' : direction === 'ascending' ? ' ▲' : ' ▼';
  return h(
    'th',
    { scope: 'col', class: isNumeric(field) ? 'number' : null, 'aria-sort': direction },
    h(
      'button',
      { type: 'button', title: `Sort by ${field.title}`, onclick },
      field.title,
      h('span', { 'aria-hidden': 'true' }, arrow),
    ),
  );
}

function sortedRows(frame: Frame, fields: readonly Field[], sort: Sort | null): number[] {
  const rows = Array.from({ length: frame.length }, (_, row) => row);
  const field = fields.find(({ title }) => title === sort?.column);
  if (sort === null || field === undefined) return rows;
  const sign = sort.descending ? -1 : 1;
  return rows.toSorted((a, b) => compare(field.values[a], field.values[b], sign));
}

/** Holes come last whichever way. */
function compare(a: unknown, b: unknown, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * sign;
  return String(a as string).localeCompare(String(b as string), 'en', { numeric: true }) * sign;
}

function cellOf(context: PanelContext, frame: Frame, field: Field, row: number): HTMLElement {
  const { theme } = context;
  const value = field.values[row];
  const shown = display(field, value, theme);
  const text = plainText(shown);
  const missing = value === null || value === '';
  const [link] = missing ? [] : cellLinks(context, frame, field, row);
  const cell = h(
    'td',
    {
      class: isNumeric(field) ? 'number' : missing ? 'missing' : null,
      title: text.length > 24 ? text : null,
    },
    link === undefined ? text : anchor(link, text),
  );
  const type = field.config.custom?.cellOptions?.type;
  if (missing || !shown.coloured || !shown.colour.startsWith('#')) return cell;
  if (type === 'color-text') return style(cell, { color: readable(shown.colour, theme) });
  if (type !== 'color-background') return cell;
  const background = `linear-gradient(120deg, ${mix(shown.colour, SURFACE[theme], 0.18)}, ${shown.colour})`;
  return style(cell, { background, color: textOn(shown.colour) });
}

/** The figures of a plot, for those who would rather read them. */
export function drawAsTable(context: PanelContext): Drawn {
  const drawn = context.frames.map((frame) => drawTable({ ...context, frames: [frame] }));
  return {
    summary: drawn.map(({ summary }) => summary).join(' '),
    empty: drawn.every(({ empty }) => empty === true),
  };
}

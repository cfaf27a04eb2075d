import { colourByName, textOn, toCss, type Theme } from '../model/colours.ts';
import type { Frame } from '../model/fields.ts';
import { formatNumber, isoTime, plainText } from '../model/units.ts';
import { h, style } from '../ui/dom.ts';
import type { Drawn, PanelContext } from './context.ts';

interface Span {
  readonly id: string;
  readonly parent: string;
  readonly service: string;
  readonly operation: string;
  readonly start: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly failed: boolean;
  readonly message: string;
  readonly tags: readonly (readonly [string, string])[];
  /** Name and milliseconds. */
  readonly events: readonly (readonly [string, number])[];
}

/** The time of a whole trace. */
interface Extent {
  readonly start: number;
  /** Milliseconds, at least 1. */
  readonly whole: number;
}

/** Spans below their parents, each a bar on the time of the whole trace; a span opens to its tags. */
export function drawTraces(context: PanelContext): Drawn {
  const spans = context.frames.flatMap(spansOf);
  if (spans.length === 0) return { summary: '', empty: true };
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.start + span.duration));
  const extent = { start, whole: Math.max(end - start, 1) };
  const ordered = inTree(spans);
  const failed = spans.filter((span) => span.failed).length;
  const head = h(
    'p',
    { class: 'trace-head' },
    h('b', {}, ordered[0]?.span.service ?? ''),
    ` ${spans.length} spans, ${msText(extent.whole)}`,
    ...(failed > 0 ? [h('span', { class: 'span-error' }, ` ${failed} failed`)] : []),
  );
  const ruler = h(
    'div',
    { class: 'trace-ruler', 'aria-hidden': 'true' },
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => h('span', {}, msText(extent.whole * share))),
  );
  const list = h('ol', { class: 'spans' }, ...ordered.map((one) => drawSpan(one, extent, context.theme)));
  context.body.append(
    h('div', { class: 'trace', tabindex: 0, role: 'region', 'aria-label': 'Spans' }, head, ruler, list),
  );
  return { summary: `Trace of ${spans.length} spans over ${msText(extent.whole)}, ${failed} failed.` };
}

const msText = (value: number): string => plainText(formatNumber(value, 'ms', value >= 1000 ? 2 : 0));

function drawSpan({ span, depth }: TreeSpan, { start, whole }: Extent, theme: Theme): HTMLElement {
  const { failed, operation, message, duration } = span;
  const colour = toCss(failed ? 'red' : colourByName(span.service), theme);
  const [from, share] = [(span.start - start) / whole, duration / whole];
  const bar = style(h('span', { class: 'span-bar' }), {
    left: `${from * 100}%`,
    width: `max(2px, ${share * 100}%)`,
    background: colour,
  });
  const name = h(
    'span',
    { class: 'span-name', title: operation },
    ...(failed ? [h('span', { class: 'span-error' }, 'error ')] : []),
    operation,
    ...(message === '' ? [] : [h('span', { class: 'quiet' }, ` ${message}`)]),
  );
  const times = `, ${msText(duration)}, after ${msText(span.start - start)}`;
  return h(
    'li',
    {},
    h(
      'details',
      {},
      h(
        'summary',
        { class: failed ? 'span failed' : 'span' },
        style(name, { 'padding-left': `${depth * 14}px` }),
        h(
          'span',
          { class: 'span-track', 'aria-hidden': 'true' },
          bar,
          timeLabel(msText(duration), from, share, colour),
        ),
        h('span', { class: 'visually-hidden' }, times),
      ),
      drawTags(span),
    ),
  );
}

function drawTags({ id, start, message, tags, events }: Span): HTMLElement {
  const entries: (readonly [string, string])[] = [
    ['span', id],
    ['start', `${isoTime(start)} UTC`],
    ...(message === '' ? [] : [['message', message] as const]),
    ...tags,
    ...events.map(([name, at]) => [name, `${isoTime(at)} UTC`] as const),
  ];
  return h(
    'dl',
    { class: 'span-tags' },
    ...entries.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}

/** Within a long bar, else behind it, or before it where there is no room. */
function timeLabel(text: string, from: number, share: number, colour: string): HTMLElement {
  const percent = (value: number): string => `${(value * 100).toFixed(2)}%`;
  const label = h('span', { class: 'span-time' }, text);
  if (share > 0.25) return style(label, { left: percent(from), color: textOn(colour) });
  if (from + share < 0.9) return style(label, { left: percent(from + share) });
  label.classList.add('before');
  return style(label, { left: percent(from) });
}

function spansOf(frame: Frame): Span[] {
  const column = (name: string): readonly unknown[] =>
    frame.fields.find((field) => field.name === name)?.values ?? [];
  const text = (name: string, row: number): string => String((column(name)[row] as string | null) ?? '');
  const starts = column('startTime');
  return Array.from({ length: frame.length }, (_, row) => ({
    id: text('spanID', row),
    parent: text('parentSpanID', row),
    service: text('serviceName', row),
    operation: text('operationName', row),
    start: Number(starts[row] ?? 0),
    duration: Number(column('duration')[row] ?? 0),
    failed: text('statusCode', row) === '2',
    message: text('statusMessage', row),
    tags: tagsOf(column('tags')[row]),
    events: eventsOf(column('logs')[row]),
  }));
}

/** `[{name, timestamp}, ...]`, the time in milliseconds as text. */
function eventsOf(value: unknown): [string, number][] {
  return listOf(value).flatMap((event: { name?: unknown; timestamp?: unknown }) =>
    typeof event.name === 'string' ? [[event.name, Number(event.timestamp)] satisfies [string, number]] : [],
  );
}

/** `[{key, value}, ...]`, as the panel's frame has it. */
function tagsOf(value: unknown): [string, string][] {
  return listOf(value).flatMap((tag: { key?: unknown; value?: unknown }) =>
    typeof tag.key === 'string' ? [[tag.key, String(tag.value as string)] satisfies [string, string]] : [],
  );
}

function listOf(value: unknown): readonly object[] {
  const list: unknown = typeof value === 'string' ? parse(value) : value;
  return Array.isArray(list) ? (list as object[]) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface TreeSpan {
  readonly span: Span;
  readonly depth: number;
}

function inTree(spans: readonly Span[]): TreeSpan[] {
  const known = new Set(spans.map(({ id }) => id));
  const children = Map.groupBy(spans, ({ parent }) => (known.has(parent) ? parent : ''));
  const walk = (parent: string, depth: number): TreeSpan[] =>
    (children.get(parent) ?? [])
      .toSorted((a, b) => a.start - b.start || a.duration - b.duration)
      .flatMap((span) => [{ span, depth }].concat(span.id === parent ? [] : walk(span.id, depth + 1)));
  return walk('', 0);
}

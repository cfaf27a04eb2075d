import { colourByName, textOn, toCss } from '../model/colours.js';

import { formatNumber, isoTime, plainText } from '../model/units.js';
import { h, style } from '../ui/dom.js';

/** Spans below their parents, each a bar on the time of the whole trace; a span opens to its tags. */
export function drawTraces(context              )        {
  const { body, frames, theme } = context;
  const spans = frames.flatMap(spansOf);
  if (spans.length === 0) return { summary: '', empty: true };
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.start + span.duration));
  const whole = Math.max(end - start, 1);
  const ordered = inTree(spans);
  const failed = spans.filter((span) => span.failed).length;
  const ms = (value        )         => plainText(formatNumber(value, 'ms', value >= 1000 ? 2 : 0));

  const list = h('ol', { class: 'spans' });
  for (const { span, depth } of ordered) {
    const colour = span.failed ? toCss('red', theme) : toCss(colourByName(span.service), theme);
    const bar = style(h('span', { class: 'span-bar' }), {
      left: `${((span.start - start) / whole) * 100}%`,
      width: `max(2px, ${(span.duration / whole) * 100}%)`,
      background: colour,
    });
    const label = timeLabel(ms(span.duration), (span.start - start) / whole, span.duration / whole, colour);
    list.append(
      h(
        'li',
        {},
        h(
          'details',
          {},
          h(
            'summary',
            { class: span.failed ? 'span failed' : 'span' },
            style(
              h(
                'span',
                { class: 'span-name', title: span.operation },
                ...(span.failed ? [h('span', { class: 'span-error' }, 'error ')] : []),
                span.operation,
                ...(span.message === '' ? [] : [h('span', { class: 'quiet' }, ` ${span.message}`)]),
              ),
              {
                'padding-left': `${depth * 14}px`,
              },
            ),
            h('span', { class: 'span-track', 'aria-hidden': 'true' }, bar, label),
            h(
              'span',
              { class: 'visually-hidden' },
              `, ${ms(span.duration)}, after ${ms(span.start - start)}`,
            ),
          ),
          h(
            'dl',
            { class: 'span-tags' },
            ...[
              ['span', span.id]         ,
              ['start', `${isoTime(span.start)} UTC`]         ,
              ...(span.message === '' ? [] : [['message', span.message]         ]),
              ...span.tags,
            ].flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
          ),
        ),
      ),
    );
  }
  const head = h(
    'p',
    { class: 'trace-head' },
    h('b', {}, ordered[0]?.span.service ?? ''),
    ` ${spans.length} spans, ${ms(whole)}`,
    ...(failed > 0 ? [h('span', { class: 'span-error' }, ` ${failed} failed`)] : []),
  );
  const ruler = h(
    'div',
    { class: 'trace-ruler', 'aria-hidden': 'true' },
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => h('span', {}, ms(whole * share))),
  );
  body.append(
    h('div', { class: 'trace', tabindex: 0, role: 'region', 'aria-label': 'Spans' }, head, ruler, list),
  );
  return { summary: `Trace of ${spans.length} spans over ${ms(whole)}, ${failed} failed.` };
}

/** Within a long bar, else behind it, or before it where there is no room. */
function timeLabel(text        , from        , share        , colour        )              {
  const percent = (value        )         => `${(value * 100).toFixed(2)}%`;
  const label = h('span', { class: 'span-time' }, text);
  if (share > 0.25) return style(label, { left: percent(from), color: textOn(colour) });
  if (from + share < 0.9) return style(label, { left: percent(from + share) });
  label.classList.add('before');
  return style(label, { left: percent(from) });
}

function spansOf(frame       )         {
  const column = (name        )                     =>
    frame.fields.find((field) => field.name === name)?.values ?? [];
  const text = (name        , row        )         => String((column(name)[row]                 ) ?? '');
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
  }));
}

/** `[{key, value}, ...]`, as the panel's frame has it. */
function tagsOf(value         )                     {
  const list          = typeof value === 'string' ? parse(value) : value;
  if (!Array.isArray(list)) return [];
  return list.flatMap((tag                                    ) =>
    typeof tag.key === 'string' ? [[tag.key, String(tag.value          )]                           ] : [],
  );
}

function parse(text        )          {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function inTree(spans                 )                                  {
  const known = new Set(spans.map(({ id }) => id));
  const children = Map.groupBy(spans, ({ parent }) => (known.has(parent) ? parent : ''));
  const walk = (parent        , depth        )                                  =>
    (children.get(parent) ?? [])
      .toSorted((a, b) => a.start - b.start || b.duration - a.duration)
      .flatMap((span) => [{ span, depth }].concat(span.id === parent ? [] : walk(span.id, depth + 1)));
  return walk('', 0);
}

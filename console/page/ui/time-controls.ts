import {
  describeRange,
  parseTime,
  QUICK_RANGES,
  resolveRange,
  stamp,
  type RawRange,
} from '../model/time-range.ts';
import { h, icon, iconButton } from './dom.ts';
import { popover } from './popover.ts';

const REFRESH_CHOICES = ['', '5s', '10s', '30s', '1m', '5m', '15m'] as const;

export interface TimeHost {
  readonly setRange: (range: RawRange) => void;
  readonly zoomOut: () => void;
  readonly refreshNow: () => void;
  readonly setRefresh: (refresh: string) => void;
}

export interface TimeControls {
  readonly element: HTMLElement;
  update(range: RawRange, refresh: string): void;
  /** Shows that data is on its way. */
  busy(busy: boolean): void;
  /** Opens the choice of the range. */
  openRange(): void;
}

/** The range, a step back, and how often the page is refreshed. */
export function createTimeControls(host: TimeHost): TimeControls {
  let range: RawRange = { from: 'now-6h', to: 'now' };
  const text = h('span', {});
  const button = h('button', { type: 'button', class: 'time-button' }, icon('clock'), text, icon('down'));
  const picker = popover(button, 'Choose the time range', (box, close) =>
    fillPicker(box, range, (chosen) => (close(), host.setRange(chosen))),
  );
  const now = iconButton('refresh', 'Refresh', host.refreshNow);
  now.classList.add('refresh-now');
  const every = h('select', {
    'aria-label': 'Refresh every',
    title: 'Refresh every',
    class: 'refresh-every',
  });
  every.addEventListener('change', () => host.setRefresh(every.value));
  const element = h(
    'div',
    { class: 'time-controls', role: 'group', 'aria-label': 'Time' },
    picker,
    iconButton('zoomOut', 'Zoom out', host.zoomOut),
    h('div', { class: 'refresh' }, now, every),
  );
  return {
    element,
    update(raw, refresh) {
      range = raw;
      const described = describeRange(raw, Date.now());
      text.textContent = described;
      button.setAttribute('aria-label', `Time range: ${described}, UTC`);
      const choices = new Set<string>([...REFRESH_CHOICES, refresh]);
      every.replaceChildren(
        ...[...choices].map((value) => h('option', { value }, value === '' ? 'Off' : value)),
      );
      every.value = refresh;
    },
    busy: (busy) => void now.classList.toggle('busy', busy),
    openRange: () => button.click(),
  };
}

function fillPicker(box: HTMLElement, range: RawRange, choose: (range: RawRange) => void): void {
  box.classList.add('time-picker');
  const resolved = resolveRange(range, Date.now());
  const field = (name: string, label: string, value: string): HTMLInputElement =>
    h('input', {
      id: `time-${name}`,
      type: 'text',
      value,
      spellcheck: 'false',
      autocomplete: 'off',
      'aria-label': label,
    });
  const shown = (text: string, ms: number | undefined): string =>
    /^\d+$/.test(text) && ms !== undefined ? stamp(ms) : text;
  const from = field('from', 'From', shown(range.from, resolved?.from));
  const to = field('to', 'To', shown(range.to, resolved?.to));
  const problem = h('p', { class: 'field-problem', role: 'alert' });
  const form = h(
    'form',
    { class: 'time-absolute' },
    h('h4', {}, 'From and to (UTC)'),
    h('label', { for: from.id }, 'From'),
    from,
    h('label', { for: to.id }, 'To'),
    to,
    problem,
    h('button', { type: 'submit', class: 'primary' }, 'Apply'),
    h('p', { class: 'quiet' }, 'e.g. now-2h, 2026-11-21 10:00'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const chosen = { from: plain(from.value, false), to: plain(to.value, true) };
    if (resolveRange(chosen, Date.now()) === null)
      problem.textContent = 'This is no range: from must be a time before to.';
    else choose(chosen);
  });
  const quick = h(
    'ul',
    { class: 'time-quick' },
    ...QUICK_RANGES.map(([label, first, last]) =>
      h(
        'li',
        {},
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(first === range.from && last === range.to),
            onclick: () => choose({ from: first, to: last }),
          },
          label,
        ),
      ),
    ),
  );
  box.append(form, quick);
}

/** Relative times stay as typed; absolute ones become milliseconds, as Grafana's addresses have them. */
function plain(text: string, end: boolean): string {
  const trimmed = text.trim();
  if (trimmed.startsWith('now')) return trimmed;
  const ms = parseTime(trimmed, Date.now(), end);
  return ms === null ? trimmed : String(ms);
}

import type { AlertsAnswer, ConsoleAlert } from '../../../schemas/console.ts';
import { isoTime } from '../model/units.ts';
import { h, icon } from '../ui/dom.ts';
import type { Drawn, PanelContext } from './context.ts';

/** The alerts that fire, worst first. Grafana lists its own states here; the rules are the same. */
export function drawAlertList(context: PanelContext, answer: AlertsAnswer): Drawn {
  const { body } = context;
  const firing = answer.alerts.toSorted((a, b) => rank(a) - rank(b));
  if (firing.length === 0) {
    // What could not be looked at is not well.
    const unfinished = answer.looked < answer.rules;
    if (answer.error !== null) return { summary: 'The alert rules could not be looked at.' };
    body.append(
      h(
        'div',
        { class: unfinished ? 'alerts-none unfinished' : 'alerts-none' },
        // A tick is for what has been looked at.
        icon(unfinished ? 'clock' : 'check'),
        h('p', {}, unfinished ? 'Nothing fires so far.' : 'Nothing fires.'),
        h('p', { class: 'quiet' }, lookedAt(answer)),
      ),
    );
    return { summary: 'No alert fires.' };
  }
  body.append(
    h('ul', { class: 'alerts' }, ...firing.map(entryOf)),
    h(
      'p',
      { class: 'quiet alerts-note' },
      `${lookedAt(answer)}. Grafana also waits until a condition has held for its time.`,
    ),
  );
  return { summary: `${firing.length} alerts fire: ${firing.map(({ rule }) => rule).join(', ')}` };
}

/** The day is plain, and everything here is UTC. */
const FULL_TIME = /\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d) \+0000 UTC/g;

const lookedAt = ({ looked, rules, asOf }: AlertsAnswer): string =>
  looked < rules || asOf === null
    ? `${looked} of ${rules} rules looked at`
    : `${rules} rules looked at, as of ${isoTime(asOf, false)}`;

const rank = ({ severity }: ConsoleAlert): number =>
  ['critical', 'warning', 'info'].indexOf(severity) + 1 || 9;

function entryOf({ rule, severity, summary, detail, labels, ...urls }: ConsoleAlert): HTMLElement {
  const { panelUrl, ordersUrl } = urls;
  return h(
    'li',
    { class: `alert ${severity}` },
    h(
      'div',
      { class: 'alert-line' },
      icon('warning'),
      panelUrl === null
        ? h('span', { class: 'alert-rule' }, rule)
        : h('a', { class: 'alert-rule', href: panelUrl }, rule),
      h('span', { class: 'alert-severity' }, severity),
    ),
    summary === '' ? null : h('p', {}, summary),
    detail === '' ? null : h('p', { class: 'quiet' }, detail.replace(FULL_TIME, '$1')),
    h(
      'p',
      { class: 'alert-labels' },
      ...Object.entries(labels).map(([key, value]) => h('span', { class: 'chip' }, `${key} ${value}`)),
      ordersUrl === null
        ? null
        : h('a', { href: ordersUrl, 'aria-label': `Orders behind ${rule}` }, 'Orders'),
    ),
  );
}

import type {
  AlertExplained,
  AlertsAnswer,
  ConsoleAlert,
  ConsoleIncident,
} from '../../../schemas/console.ts';
import { alertStateOf, standingOf } from '../model/alert-standing.ts';
import { type Block, blocksOf, INCIDENTS_UID, lasted, memberOf } from '../model/incidents.ts';
import { zonedTime } from '../model/zoned.ts';
import { h, icon } from '../ui/dom.ts';
import type { Drawn, PanelContext } from './context.ts';
import { heldLine, heldSummary, incidentActions } from './incident-actions.ts';

/** The alerts that fire, are pending or end, as the server orders them: most urgent first. */
export function drawAlertList(
  { body, reload }: PanelContext,
  answer: AlertsAnswer,
  incidents: readonly ConsoleIncident[] = [],
): Drawn {
  const { alerts, asOf, error } = answer;
  const { isLate, text } = standingOf(answer);
  if (alerts.length === 0) {
    // What could not be looked at is not well.
    if (error !== null && asOf === null) return { summary: 'The alerts could not be read.' };
    body.append(
      h(
        'div',
        { class: isLate ? 'alerts-none late' : 'alerts-none' },
        // A tick is for what has been looked at.
        icon(isLate ? 'clock' : 'check'),
        h('p', {}, isLate ? 'It is not known whether anything fires.' : 'Nothing fires.'),
        h('p', { class: 'quiet' }, text),
      ),
    );
    return { summary: isLate ? text : 'No alert fires.' };
  }
  const { blocks, others } = blocksOf(alerts, incidents);
  const entries = [
    ...blocks.map((block) => blockOf(block, answer, reload)),
    ...others.map((alert) => entryOf(alert, answer)),
  ];
  const note = h('p', { class: isLate ? 'alerts-note late' : 'quiet alerts-note' }, text);
  body.append(h('ul', { class: 'alerts' }, ...entries), note);
  const names = alerts.map(({ rule, state }) => `${rule} (${state})`).join(', ');
  return { summary: `${alerts.length} alerts: ${names}.${isLate ? ` ${text}` : ''}` };
}

/**
 * A running incident: its story, what can be done about it, and its alerts in the order in which they fired.
 */
function blockOf({ incident, alerts }: Block, answer: AlertsAnswer, reload: () => void): HTMLElement {
  const { gateway, headline, severity, beganAt, noticedAt, sides, risks, affectedOrders } = incident;
  const { asOf, timeZone } = answer;
  const facts = [
    `Began at ${zonedTime(beganAt, timeZone, false)}, noticed after ${lasted(noticedAt - beganAt)}, lasts for ${lasted((asOf ?? noticedAt) - beganAt)}.`,
    `Whose side: ${sides.join(', then ')}.`,
    `At risk: ${['orders', ...risks].join(', ')}${affectedOrders === null ? '' : `; at least ${affectedOrders} orders are affected`}.`,
  ];
  return h(
    'li',
    { class: `incident ${severity}` },
    h(
      'div',
      { class: 'incident-head' },
      h('a', { href: `/d/${INCIDENTS_UID}?days=1` }, gateway === '' ? headline : `${gateway}: ${headline}`),
      h('span', { class: 'alert-severity' }, severity),
    ),
    h('p', { class: 'quiet' }, facts.join(' ')),
    heldSummary(incident),
    incidentActions(incident, reload),
    h(
      'ul',
      { class: 'incident-alerts' },
      ...alerts.map((alert) => {
        const member = memberOf(incident, alert);
        const held = member === null ? null : heldLine(member, timeZone, reload);
        const entry = entryOf(alert, answer);
        // Beside the state, which it is a part of.
        if (held !== null) entry.querySelector('.alert-state')?.after(held);
        return entry;
      }),
    ),
  );
}

function entryOf(alert: ConsoleAlert, answer: AlertsAnswer): HTMLElement {
  const { rule, severity, summary, detail, labels, panelUrl, ordersUrl, runbookUrl, explained } = alert;
  const { phase, text } = alertStateOf(alert, answer);
  return h(
    'li',
    { class: `alert ${severity} ${phase}` },
    h(
      'div',
      { class: 'alert-line' },
      icon(phase === 'waiting' ? 'clock' : 'warning'),
      panelUrl === null
        ? h('span', { class: 'alert-rule' }, rule)
        : h('a', { class: 'alert-rule', href: panelUrl }, rule),
      h('span', { class: 'alert-severity' }, severity),
    ),
    h('p', { class: 'alert-state' }, text),
    summary === '' ? null : h('p', {}, summary),
    detail === '' ? null : h('p', { class: 'quiet' }, detail),
    explained === null ? null : explanationOf(explained, answer.timeZone),
    h(
      'p',
      { class: 'alert-labels' },
      ...Object.entries(labels).map(([key, value]) => h('span', { class: 'chip' }, `${key} ${value}`)),
      ordersUrl === null
        ? null
        : h('a', { href: ordersUrl, 'aria-label': `Orders behind ${rule}` }, 'Orders'),
      h('a', { href: runbookUrl, 'aria-label': `Runbook of ${rule}` }, 'Runbook'),
    ),
  );
}

/** What the affected orders have in common, what they are worth, and one of them. */
function explanationOf({ asOf, lines, atRisk, exampleUrl }: AlertExplained, timeZone: string): HTMLElement {
  return h(
    'ul',
    { class: 'alert-explanation', title: `As of ${zonedTime(asOf, timeZone, false)}` },
    ...lines.map((line) => h('li', {}, line)),
    atRisk === '' && exampleUrl === null
      ? null
      : h(
          'li',
          {},
          atRisk === '' ? '' : `At risk: ${atRisk}. `,
          exampleUrl === null ? null : h('a', { href: exampleUrl }, 'The newest of them'),
        ),
  );
}

import type { ConsoleIncident, ConsoleIncidentAlert, IncidentsAnswer } from '../../../schemas/console.ts';
import { type Bar, barsOf, INCIDENTS_UID, lasted } from '../model/incidents.ts';
import type { UrlState } from '../model/url-state.ts';
import { zonedTime } from '../model/zoned.ts';
import { heldLine, incidentActions } from '../panels/incident-actions.ts';
import { api, isAbort } from './api.ts';
import type { DashboardView } from './dashboard-view.ts';
import { h, style } from './dom.ts';

const PERIODS = [1, 7, 30] as const;
const REFRESH_MS = 60_000;

/**
 * The incidents of the last days: what fired first, what followed, how long it took to notice and to mend.
 *
 * @param go goes to an address of this page
 */
export function createIncidentsView(
  url: UrlState,
  search: string,
  go: (href: string) => void,
): DashboardView {
  const days = PERIODS.find((one) => String(one) === new URLSearchParams(search).get('days')) ?? 7;
  const list = h('div', { class: 'incidents', 'aria-live': 'polite' }, h('p', { class: 'quiet' }, 'Loading'));
  let inFlight = new AbortController();

  async function load(): Promise<void> {
    inFlight.abort();
    inFlight = new AbortController();
    try {
      const answer = await api.incidents(days, inFlight.signal);
      // Somebody is typing: what is new can wait.
      if (list.querySelector('form') === null) draw(list, answer, () => void load());
    } catch (error) {
      if (!isAbort(error)) list.replaceChildren(h('p', { role: 'alert' }, (error as Error).message));
    }
  }
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') void load();
  }, REFRESH_MS);
  void load();

  return {
    element: drawPage(days, list, go),
    address: {
      uid: INCIDENTS_UID,
      range: url.range ?? { from: 'now-6h', to: 'now' },
      refresh: url.refresh ?? '1m',
      variables: {},
      viewPanel: null,
    },
    refresh: () => void load(),
    redraw: () => undefined,
    zoomOut: () => undefined,
    shift: () => undefined,
    leaveView: () => false,
    openRange: () => undefined,
    toggleRows: () => undefined,
    destroy() {
      clearInterval(timer);
      inFlight.abort();
    },
  };
}

function drawPage(days: number, list: HTMLElement, go: (href: string) => void): HTMLElement {
  const periods = PERIODS.map((one) => {
    const button = h(
      'button',
      { type: 'button', class: 'action', 'aria-pressed': String(one === days) },
      one === 1 ? '24 hours' : `${one} days`,
    );
    button.addEventListener('click', () => go(`/d/${INCIDENTS_UID}?days=${one}`));
    return button;
  });
  const about =
    'Alerts of one gateway that fire while another fires, or up to ten minutes after it. What fired first is the headline.';
  return h(
    'div',
    { class: 'dashboard' },
    h(
      'div',
      { class: 'dashboard-head' },
      h('div', { class: 'dashboard-title' }, h('h1', {}, 'Incidents'), h('p', {}, about)),
      h('div', { class: 'action-row', role: 'group', 'aria-label': 'Period' }, ...periods),
    ),
    list,
  );
}

function draw(list: HTMLElement, answer: IncidentsAnswer, reload: () => void): void {
  const { incidents, error } = answer;
  if (error !== null) return list.replaceChildren(h('p', { class: 'panel-error', role: 'alert' }, error));
  if (incidents.length === 0)
    return list.replaceChildren(h('p', { class: 'quiet' }, 'No incident in this time.'));
  list.replaceChildren(...incidents.map((incident) => drawIncident(incident, answer, reload)));
}

function drawIncident(incident: ConsoleIncident, answer: IncidentsAnswer, reload: () => void): HTMLElement {
  const { id, gateway, headline, severity, beganAt, noticedAt, endedAt, affectedOrders, sides, risks } =
    incident;
  const { timeZone, asOf } = answer;
  const fact = (name: string, text: string): HTMLElement =>
    h('div', {}, h('dt', {}, name), h('dd', {}, text));
  return h(
    'section',
    { class: `incident-card ${severity}${endedAt === null ? ' running' : ''}`, 'aria-label': id },
    h(
      'div',
      { class: 'incident-head' },
      h('h2', {}, gateway === '' ? headline : `${gateway}: ${headline}`),
      h('span', { class: 'alert-severity' }, endedAt === null ? `${severity}, running` : severity),
    ),
    h(
      'dl',
      { class: 'incident-facts' },
      fact('Began', zonedTime(beganAt, timeZone)),
      fact('Noticed after', lasted(noticedAt - beganAt)),
      endedAt === null
        ? fact('Lasts for', lasted(asOf - beganAt))
        : fact('Mended after', lasted(endedAt - beganAt)),
      fact('Orders', affectedOrders === null ? 'not counted' : `at least ${affectedOrders}`),
      fact('At risk', ['orders', ...risks].join(', ')),
      fact('Whose side', sides.join(', then ') || 'not known'),
    ),
    h(
      'ol',
      { class: 'timeline' },
      ...incident.alerts.map((alert) => drawAlert(incident, alert, answer, reload)),
    ),
    ...incident.notes.map((note) =>
      h(
        'p',
        { class: 'incident-note' },
        `${zonedTime(note.at, timeZone)}: ${note.title}`,
        h('span', { class: 'quiet' }, note.text === '' ? '' : ` ${note.text}`),
      ),
    ),
    endedAt === null ? incidentActions(incident, reload) : null,
  );
}

function drawAlert(
  incident: ConsoleIncident,
  alert: ConsoleIncidentAlert,
  answer: IncidentsAnswer,
  reload: () => void,
): HTMLElement {
  const { rule, severity, slice, label, firedAt, affectedOrders: orders } = alert;
  const { timeZone } = answer;
  const { waiting, firing } = barsOf(incident, alert, answer);
  const bar = (name: string, { left, width }: Bar): HTMLElement =>
    style(h('span', { class: name }), { left: `${left}%`, width: `${width}%` });
  const parts = [
    firedAt === incident.noticedAt ? 'first' : `+${lasted(firedAt - incident.noticedAt)}`,
    severity,
    ...[slice, label].filter((text) => text !== ''),
    stateOf(alert, timeZone),
    ...(orders === null ? [] : [`${orders} ${orders === 1 ? 'order' : 'orders'}`]),
  ];
  return h(
    'li',
    { class: severity },
    h(
      'div',
      { class: 'timeline-text' },
      h('b', {}, rule),
      h('span', { class: 'quiet' }, parts.join(' \u00b7 ')),
      heldLine(alert, timeZone, reload),
    ),
    h(
      'div',
      { class: 'timeline-bar', 'aria-hidden': 'true' },
      bar('waiting', waiting),
      bar('firing', firing),
    ),
  );
}

function stateOf({ firedAt, endedAt, recoveringSince }: ConsoleIncidentAlert, timeZone: string): string {
  if (endedAt !== null) return `for ${lasted(endedAt - firedAt)}`;
  return recoveringSince === null
    ? 'fires'
    : `recovering since ${zonedTime(recoveringSince, timeZone, false)}`;
}

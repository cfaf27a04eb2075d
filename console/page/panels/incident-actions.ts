import type { ConsoleIncident, ConsoleIncidentAlert } from '../../../schemas/console.ts';
import { holdRequests, type HoldRequest } from '../model/incidents.ts';
import { zonedTime } from '../model/zoned.ts';
import { api } from '../ui/api.ts';
import { h } from '../ui/dom.ts';
import { read, write } from '../ui/theme.ts';

const NAME_KEY = 'gatewatch.name';
const DURATIONS = ['30m', '1h', '2h', '4h', '8h', '24h'] as const;
const DURATION_TEXT = {
  '30m': '30 minutes',
  '1h': '1 hour',
  '2h': '2 hours',
  '4h': '4 hours',
  '8h': '8 hours',
  '24h': '24 hours',
};

/**
 * Buttons that acknowledge or silence all alerts of an incident that fire, each with a form below it.
 *
 * @param reload shows what has become of them
 */
export function incidentActions(incident: ConsoleIncident, reload: () => void): HTMLElement {
  const place = h('div', {});
  const button = (kind: HoldRequest['kind'], text: string): HTMLButtonElement => {
    const opener = h('button', { type: 'button', class: 'action', 'aria-expanded': 'false' }, text);
    opener.addEventListener('click', () => {
      const isOpen = opener.getAttribute('aria-expanded') === 'true';
      place.replaceChildren();
      for (const other of buttons) other.setAttribute('aria-expanded', 'false');
      if (isOpen) return;
      opener.setAttribute('aria-expanded', 'true');
      const form = holdForm(incident, kind, {
        close() {
          place.replaceChildren();
          opener.setAttribute('aria-expanded', 'false');
          opener.focus();
        },
        reload,
      });
      place.replaceChildren(form);
      form.querySelector<HTMLElement>('input, select')?.focus();
    });
    return opener;
  };
  const buttons = [button('acknowledged', 'Acknowledge'), button('silenced', 'Silence')];
  return h('div', { class: 'incident-actions' }, h('div', { class: 'action-row' }, ...buttons), place);
}

interface FormHost {
  readonly close: () => void;
  readonly reload: () => void;
}

function holdForm(
  incident: ConsoleIncident,
  kind: HoldRequest['kind'],
  { close, reload }: FormHost,
): HTMLFormElement {
  const duration = h(
    'select',
    { name: 'for' },
    ...DURATIONS.map((one) => h('option', { value: one, selected: one === '2h' }, DURATION_TEXT[one])),
  );
  const reason = h('input', {
    name: 'reason',
    type: 'text',
    required: true,
    maxlength: 500,
    autocomplete: 'off',
  });
  const name = h('input', { name: 'by', type: 'text', maxlength: 100, value: read(NAME_KEY) ?? '' });
  const problem = h('p', { class: 'form-problem', role: 'alert' });
  const submit = h(
    'button',
    { type: 'submit', class: 'action main' },
    kind === 'silenced' ? 'Silence' : 'Acknowledge',
  );
  const form = h(
    'form',
    { class: 'hold-form' },
    h('p', { class: 'quiet' }, MEANING[kind]),
    kind === 'silenced' ? h('label', {}, 'For', duration) : null,
    h('label', {}, 'Reason', reason),
    h('label', {}, 'Your name', name),
    h(
      'div',
      { class: 'action-row' },
      submit,
      h('button', { type: 'button', class: 'action', onclick: close }, 'Cancel'),
    ),
    problem,
  );
  const send = async (): Promise<void> => {
    submit.disabled = true;
    const chosen = {
      kind,
      reason: reason.value,
      by: name.value,
      ...(kind === 'silenced' ? { for: duration.value } : {}),
    };
    try {
      write(NAME_KEY, name.value);
      for (const request of holdRequests(incident, chosen)) await api.hold(request);
      close();
      reload();
    } catch (error) {
      problem.textContent = (error as Error).message;
      submit.disabled = false;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    // Keys of the page are not meant here.
    event.stopPropagation();
  });
  return form;
}

const MEANING = {
  silenced: 'Nobody is notified of these alerts until then. They stay visible here.',
  acknowledged: 'You are at it: these alerts are not repeated until they end.',
} as const;

/** How many of the alerts that fire are held back, and by whom last; null: none. */
export function heldSummary({ alerts }: ConsoleIncident): HTMLElement | null {
  const firing = alerts.filter(({ endedAt }) => endedAt === null);
  const held = firing.flatMap((alert) => alert.held ?? []);
  const newest = held.toSorted((a, b) => b.createdAt - a.createdAt)[0];
  if (newest === undefined) return null;
  const who = newest.by === '' ? '' : ` by ${newest.by}`;
  const count = held.length === firing.length ? 'All alerts' : `${held.length} of ${firing.length} alerts`;
  return h('p', { class: 'held' }, `${count} are held back (${newest.kind}${who}): ${newest.reason}`);
}

/** What holds an alert back, and a button that takes it back; null: nothing does. */
export function heldLine(
  { held }: ConsoleIncidentAlert,
  timeZone: string,
  reload: () => void,
): HTMLElement | null {
  if (held === null) return null;
  const { id, kind, until, by, reason } = held;
  const what = kind === 'silenced' ? 'Silenced' : 'Acknowledged';
  const end = until === null ? '' : ` until ${zonedTime(until, timeZone)}`;
  const button = h('button', { type: 'button', class: 'action small' }, 'Take back');
  button.addEventListener('click', () => {
    button.disabled = true;
    void api.release(id).then(reload, (error: unknown) => {
      button.textContent = (error as Error).message;
    });
  });
  return h(
    'p',
    { class: 'held' },
    h('span', {}, `${what}${end}${by === '' ? '' : ` by ${by}`}: ${reason}`),
    button,
  );
}

import { h } from './dom.ts';
import { read, write } from './theme.ts';

export interface Shortcut {
  /** Keys in turn, e.g. `t z`. */
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

const KEY = 'gatewatch.shortcuts';
const PAUSE_MS = 2_000;
const isOn = (): boolean => read(KEY) !== 'off';

/** Listens for Grafana's key sequences, unless the reader has switched them off or is typing. */
export function listenForShortcuts(shortcuts: readonly Shortcut[]): void {
  let typed = '';
  let last = 0;
  document.addEventListener('keydown', (event) => {
    if (!isOn() || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    typed = event.timeStamp - last > PAUSE_MS || typed === '' ? event.key : `${typed} ${event.key}`;
    last = event.timeStamp;
    const found = shortcuts.find(({ keys }) => typed === keys || typed.endsWith(` ${keys}`));
    if (found === undefined) return;
    typed = '';
    event.preventDefault();
    found.run();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName));

/** What the keys do, and a switch for those whom they disturb. */
export function openHelp(shortcuts: readonly Shortcut[]): void {
  const toggle = h('input', { type: 'checkbox', onchange: () => write(KEY, toggle.checked ? 'on' : 'off') });
  toggle.checked = isOn();
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    h('h2', { id: 'help-title' }, 'Keys'),
    h(
      'dl',
      {},
      ...shortcuts.flatMap(({ keys, does }) => [
        h('dt', {}, ...keys.split(' ').map((key) => h('kbd', {}, key.replace('Arrow', '')))),
        h('dd', {}, does),
      ]),
    ),
    h(
      'p',
      { class: 'quiet' },
      'In a plot: arrow keys read values, Enter opens links, a drag chooses a time range.',
    ),
    h('label', { class: 'help-switch' }, toggle, 'Use these keys'),
    h('form', { method: 'dialog' }, h('button', { type: 'submit', class: 'primary' }, 'Close')),
  );
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

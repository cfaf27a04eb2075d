import type { DashboardSummary } from '../../schemas/console.ts';
import { keptVariables } from './model/dashboard-state.ts';
import { INCIDENTS_UID } from './model/incidents.ts';
import { readUrl, type UrlState, writeUrl } from './model/url-state.ts';
import { api } from './ui/api.ts';
import { createDashboardView, type DashboardView } from './ui/dashboard-view.ts';
import { createIncidentsView } from './ui/incidents-view.ts';
import { h, icon, iconButton } from './ui/dom.ts';
import { closePopover } from './ui/popover.ts';
import { listenForShortcuts, openHelp, type Shortcut } from './ui/shortcuts.ts';
import { applyTheme, onSystemTheme, theme, toggleTheme } from './ui/theme.ts';
import { hideTooltip } from './ui/tooltip.ts';

applyTheme();

const nav = document.querySelector<HTMLElement>('#dashboards');
const main = document.querySelector<HTMLElement>('#main');
const tools = document.querySelector<HTMLElement>('#tools');
if (nav === null || main === null || tools === null) throw new Error('the page is not complete');

let boards: readonly DashboardSummary[] = [];
let view: DashboardView | null = null;
let shownUid = '';

/** Opens the dashboard that the address names. */
async function open(): Promise<void> {
  const url = readUrl(location.pathname, location.search);
  closePopover();
  hideTooltip();
  try {
    const moved = shownUid !== url.uid;
    const { title, next } = await viewOf(url);
    view?.destroy();
    view = next;
    const focus = moved ? null : document.activeElement?.id;
    main?.replaceChildren(next.element);
    document.title = `${title} - gatewatch`;
    if (moved) scrollTo(0, 0);
    else if (focus)
      document.querySelector<HTMLElement>(`#${CSS.escape(focus)}`)?.focus({ preventScroll: true });
    shownUid = url.uid;
  } catch (error) {
    view?.destroy();
    view = null;
    main?.replaceChildren(
      h(
        'div',
        { class: 'page-problem', role: 'alert' },
        h('h1', {}, 'This page cannot be shown'),
        h('p', {}, (error as Error).message),
      ),
    );
  }
  drawNavigation();
}

async function viewOf(url: UrlState): Promise<{ readonly title: string; readonly next: DashboardView }> {
  if (url.uid === INCIDENTS_UID)
    return { title: 'Incidents', next: createIncidentsView(url, location.search, go) };
  const board = await cachedDashboard(url.uid);
  return { title: board.title ?? '', next: createDashboardView(board, url, go) };
}

const known = new Map<string, ReturnType<typeof api.dashboard>>();
function cachedDashboard(uid: string): ReturnType<typeof api.dashboard> {
  let board = known.get(uid);
  if (board === undefined) {
    board = api.dashboard(uid);
    board.catch(() => known.delete(uid));
    known.set(uid, board);
  }
  return board;
}

function go(href: string, replace = false): void {
  const target = new URL(href, location.href);
  if (target.origin !== location.origin || !target.pathname.startsWith('/d/')) {
    location.assign(target);
    return;
  }
  history[replace ? 'replaceState' : 'pushState'](null, '', target);
  void open();
}

const INCIDENTS: DashboardSummary = {
  uid: INCIDENTS_UID,
  title: 'Incidents',
  description: 'What fired first, what followed, how long it took to notice and to mend',
  tags: [],
};

/** The dashboards, general to specific; links keep the time range and what is chosen. */
function drawNavigation(): void {
  const address = view?.address;
  const order = ['overview', INCIDENTS_UID, 'failures', 'gateways', 'payform', 'order', 'pipeline'];
  const rank = ({ uid }: DashboardSummary): number => {
    const index = order.indexOf(uid.replace(/^gatewatch-/, ''));
    return index === -1 ? order.length : index;
  };
  nav?.replaceChildren(
    h(
      'ul',
      {},
      ...[INCIDENTS, ...boards]
        .toSorted((a, b) => rank(a) - rank(b))
        .map(({ uid, title, description }) => {
          const href =
            address === undefined
              ? `/d/${uid}`
              : writeUrl({ ...address, uid, viewPanel: null, variables: keptVariables(address.variables) });
          return h(
            'li',
            {},
            h('a', { href, title: description, 'aria-current': uid === shownUid ? 'page' : null }, title),
          );
        }),
    ),
  );
}

/** Links within the page open without loading it anew. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey)
    return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (
    link === null ||
    link.target !== '' ||
    link.origin !== location.origin ||
    !link.pathname.startsWith('/d/')
  )
    return;
  event.preventDefault();
  go(link.href);
});
addEventListener('popstate', () => void open());

const switchTheme = (): void => {
  toggleTheme();
  drawTools();
  view?.redraw();
};
onSystemTheme(() => {
  drawTools();
  view?.redraw();
});

const shortcuts: readonly Shortcut[] = [
  { keys: '?', does: 'show these keys', run: () => openHelp(shortcuts) },
  { keys: 'd r', does: 'refresh', run: () => view?.refresh() },
  { keys: 't o', does: 'choose the time range', run: () => view?.openRange() },
  { keys: 't z', does: 'zoom out', run: () => view?.zoomOut() },
  { keys: 't ArrowLeft', does: 'go back in time', run: () => view?.shift(-1) },
  { keys: 't ArrowRight', does: 'go forward in time', run: () => view?.shift(1) },
  { keys: 'd e', does: 'open or close all rows', run: () => view?.toggleRows() },
  { keys: 'd t', does: 'dark or light', run: switchTheme },
  { keys: 'Escape', does: 'leave a panel that is shown alone', run: () => view?.leaveView() },
];
listenForShortcuts(shortcuts);

function drawTools(): void {
  const dark = theme() === 'dark';
  tools?.replaceChildren(
    iconButton(dark ? 'sun' : 'moon', dark ? 'Light colours' : 'Dark colours', switchTheme),
    iconButton('help', 'Keys', () => openHelp(shortcuts)),
  );
}
drawTools();
main.replaceChildren(h('p', { class: 'loading' }, icon('refresh'), 'Loading'));

async function start(): Promise<void> {
  const opened = open();
  boards = await api.dashboards().catch(() => []);
  await opened;
  drawNavigation();
}
void start();

import type { ConsoleScope } from '../../../schemas/console.ts';
import {
  atTime,
  draggedRange,
  hrefWith,
  openDashboard,
  scopeOf,
  sectionsOf,
  withLoaded,
  type DashboardState,
  type Section,
} from '../model/dashboard-state.ts';
import { shift, zoomOut, type RawRange } from '../model/time-range.ts';
import type { Dashboard, Panel } from '../model/types.ts';
import { refreshMs, type Address, type UrlState } from '../model/url-state.ts';
import { api, isAbort } from './api.ts';
import { h, icon } from './dom.ts';
import { createPanelCard, type CardHost, type PanelCard } from './panel-card.ts';
import { createTimeControls, type TimeControls } from './time-controls.ts';
import { createVariableControls } from './variable-controls.ts';

/** One opened dashboard. */
export interface DashboardView {
  readonly element: HTMLElement;
  /** For links to other dashboards. */
  readonly address: Required<Address>;
  refresh(): void;
  redraw(): void;
  zoomOut(): void;
  shift(direction: -1 | 1): void;
  leaveView(): boolean;
  openRange(): void;
  toggleRows(): void;
  destroy(): void;
}

/**
 * @param go goes to an address of this page; it replaces the view
 */
export function createDashboardView(
  board: Dashboard,
  url: UrlState,
  go: (href: string, replace?: boolean) => void,
): DashboardView {
  let state = openDashboard(board, url, Date.now());
  let inFlight = new AbortController();
  const { address } = state;
  const change = (changed: Partial<Address>, replace?: boolean): void =>
    go(hrefWith(state, changed), replace);
  const moves = createMoves(() => state, change);

  const time = createTimeControls({
    setRange: moves.setRange,
    zoomOut: moves.zoomOut,
    refreshNow: () => load(),
    setRefresh: (refresh) => change({ refresh }, true),
  });
  time.update(address.range, address.refresh);
  const variables = createVariableControls(board, address.variables, (name, values) =>
    change({ variables: { ...address.variables, [name]: values } }, true),
  );
  const { content, cards, rows } = drawPanels(
    board,
    url.viewPanel,
    hostOf(() => state, change, go),
  );

  function load(): void {
    state = atTime(state, Date.now());
    inFlight.abort();
    inFlight = new AbortController();
    for (const card of cards) card.load();
    time.busy(true);
    void loadShared(inFlight.signal).finally(() => time.busy(false));
  }

  async function loadShared(signal: AbortSignal): Promise<void> {
    const [listed, noted] = await askShared(scopeOf(state), signal);
    if (signal.aborted) return;
    const before = JSON.stringify(state.annotations);
    state = withLoaded(state, listed, noted);
    variables.update(state.options, address.variables);
    if (JSON.stringify(state.annotations) !== before) for (const card of cards) card.redraw();
  }

  const stopRefreshing = refreshEvery(refreshMs(address.refresh), cards, load);
  load();

  return {
    element: drawDashboard(board, time, variables.element, content),
    address,
    refresh: load,
    redraw: () => cards.forEach((card) => card.redraw()),
    zoomOut: moves.zoomOut,
    shift: moves.shift,
    leaveView: moves.leaveView,
    openRange: () => time.openRange(),
    toggleRows: () => toggleAll(rows),
    destroy() {
      stopRefreshing();
      inFlight.abort();
      for (const card of cards) card.destroy();
    },
  };
}

/** Ways to another range or panel of the same dashboard. */
function createMoves(state: () => DashboardState, change: (changed: Partial<Address>) => void) {
  const setRange = (range: RawRange): void => change({ range });
  return {
    setRange,
    zoomOut: () => setRange(zoomOut(state().times, Date.now())),
    shift: (direction: -1 | 1) => setRange(shift(state().times, direction, Date.now())),
    leaveView(): boolean {
      if (state().address.viewPanel === null) return false;
      change({ viewPanel: null });
      return true;
    },
  };
}

/** What panels may know of their dashboard and change in it. */
function hostOf(
  state: () => DashboardState,
  change: (changed: Partial<Address>) => void,
  follow: (href: string) => void,
): CardHost {
  const isViewed = (panel: number): boolean => state().address.viewPanel === panel;
  return {
    scope: () => scopeOf(state()),
    range: () => state().address.range,
    annotations: () => state().annotations,
    zoomTo: (from, to) => change({ range: draggedRange(from, to) }),
    follow,
    toggleView: (panel) => change({ viewPanel: isViewed(panel) ? null : panel }),
    isViewed,
  };
}

/** What belongs to all panels: options of the filters, and notes on the time axis. */
const askShared = (scope: ConsoleScope, signal: AbortSignal) =>
  Promise.all([orNull(api.variables(scope, signal)), orNull(api.annotations(scope, signal))]);

/** Null when it fails; the browser's console says why. */
const orNull = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (!isAbort(error)) console.warn((error as Error).message);
    return null;
  });

/**
 * Loads again and again while the page is seen. Asking anew ends what is under way: where answers take longer
 * than the interval there would never be one, so a turn is left out while a panel still asks.
 * @param intervalMs 0 for never
 */
function refreshEvery(intervalMs: number, cards: readonly PanelCard[], load: () => void): () => void {
  if (intervalMs === 0) return () => undefined;
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible' && !cards.some((card) => card.isAsking())) load();
  }, intervalMs);
  return () => clearInterval(timer);
}

/** A row that can be opened and closed. */
interface Row {
  open(open: boolean): void;
  isOpen(): boolean;
}

/** Opens all rows, or closes them when all are open. */
function toggleAll(rows: readonly Row[]): void {
  const open = rows.some((row) => !row.isOpen());
  for (const row of rows) row.open(open);
}

/** All panels in their rows, or the one that is shown alone. */
function drawPanels(
  board: Dashboard,
  viewPanel: number | null,
  host: CardHost,
): { readonly content: HTMLElement[]; readonly cards: readonly PanelCard[]; readonly rows: readonly Row[] } {
  const cards: PanelCard[] = [];
  const rows: Row[] = [];
  const card = (panel: Panel): HTMLElement => {
    const made = createPanelCard(panel, host);
    cards.push(made);
    return made.element;
  };
  const sections = sectionsOf(board.panels);
  const alone = sections.flatMap(({ panels }) => panels).find(({ id }) => id === viewPanel);
  const content =
    alone === undefined
      ? sections.map((section) => drawSection(section, card, rows))
      : [h('div', { class: 'viewed' }, wayBack(board, alone, host), card({ ...alone, gridPos: VIEWED }))];
  return { content, cards, rows };
}

const VIEWED = { x: 0, y: 0, w: 24, h: 18 };

/** Links lead to one panel: who follows one may want the others. */
function wayBack({ title }: Dashboard, { id }: Panel, host: CardHost): HTMLElement {
  const button = h('button', { type: 'button', class: 'way-back' }, `\u2190 All of ${title}`);
  button.addEventListener('click', () => host.toggleView(id));
  return button;
}

function drawDashboard(
  { title, description }: Dashboard,
  time: TimeControls,
  variables: HTMLElement,
  content: readonly HTMLElement[],
): HTMLElement {
  const heading = h('div', { class: 'dashboard-title' }, h('h1', {}, title), h('p', {}, description ?? ''));
  const head = h('div', { class: 'dashboard-head' }, heading, time.element);
  return h('div', { class: 'dashboard' }, head, variables, ...content);
}

function drawSection(
  { id, title, collapsed, panels }: Section,
  card: (panel: Panel) => HTMLElement,
  rows: Row[],
): HTMLElement {
  const top = Math.min(...panels.map(({ gridPos }) => gridPos.y));
  const grid = h('div', { class: 'grid', id: `row-${id}` });
  for (const panel of panels) {
    const element = card(panel);
    element.style.setProperty('--y', String(panel.gridPos.y - top + 1));
    grid.append(element);
  }
  if (title === '') return grid;
  const button = h('button', { type: 'button', 'aria-controls': grid.id }, icon('down'), title);
  const open = (wanted: boolean): void => {
    grid.hidden = !wanted;
    button.setAttribute('aria-expanded', String(wanted));
  };
  button.addEventListener('click', () => open(grid.hidden !== false));
  open(!collapsed);
  rows.push({ open, isOpen: () => grid.hidden === false });
  return h('section', { class: 'row', 'aria-label': title }, h('h2', {}, button), grid);
}

import type { ConsoleAnnotation, ConsoleScope, VariableOption } from '../../../schemas/console.ts';
import { sectionsOf, type Section } from '../model/layout.ts';
import { resolveRange, shift, zoomOut, type RawRange, type TimeRange } from '../model/time-range.ts';
import type { Dashboard } from '../model/types.ts';
import { ALL, chosenOf, refreshMs, writeUrl, type UrlState } from '../model/url-state.ts';
import { api, isAbort } from './api.ts';
import { h, icon } from './dom.ts';
import { createPanelCard, type CardHost, type PanelCard } from './panel-card.ts';
import { createTimeControls } from './time-controls.ts';
import { createVariableControls } from './variable-controls.ts';

/** One opened dashboard. */
export interface DashboardView {
  readonly element: HTMLElement;
  /** The address as it would be written: for links to other dashboards. */
  readonly state: () => {
    readonly range: RawRange;
    readonly refresh: string;
    readonly variables: ConsoleScope['variables'];
  };
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
  const range: RawRange = url.range ?? board.time ?? { from: 'now-6h', to: 'now' };
  const refresh = url.refresh ?? (typeof board.refresh === 'string' ? board.refresh : '');
  const chosen = chosenOf(board, url.variables);
  let resolved: TimeRange = resolveRange(range, Date.now()) ?? {
    from: Date.now() - 21_600_000,
    to: Date.now(),
  };
  let annotations: readonly ConsoleAnnotation[] = [];
  let options: Readonly<Record<string, readonly VariableOption[]>> = {};
  let inFlight = new AbortController();

  const scope = (): ConsoleScope => ({ dashboard: board.uid, ...resolved, variables: chosen });
  const address = { uid: board.uid, range, refresh, variables: chosen, viewPanel: url.viewPanel };
  const setRange = (next: RawRange): void => go(writeUrl({ ...address, range: next }));

  const host: CardHost = {
    scope,
    range: () => range,
    annotations: () => annotations,
    zoomTo: (from, to) =>
      setRange({ from: String(Math.round(from)), to: String(Math.round(Math.max(to, from + 1000))) }),
    follow: go,
    toggleView: (panel) => go(writeUrl({ ...address, viewPanel: url.viewPanel === panel ? null : panel })),
    isViewed: (panel) => url.viewPanel === panel,
  };

  const time = createTimeControls({
    setRange,
    zoomOut: () => setRange(zoomOut(resolved, Date.now())),
    refreshNow: () => load(),
    setRefresh: (next) => go(writeUrl({ ...address, refresh: next }), true),
  });
  time.update(range, refresh);
  const variables = createVariableControls(board, chosen, (name, values) =>
    go(writeUrl({ ...address, variables: { ...chosen, [name]: values } }), true),
  );

  const cards: PanelCard[] = [];
  const rows: { open: (open: boolean) => void; readonly isOpen: () => boolean }[] = [];
  const card = (panel: Dashboard['panels'][number]): HTMLElement => {
    const made = createPanelCard(panel, host);
    cards.push(made);
    return made.element;
  };
  const sections = sectionsOf(board.panels);
  const alone = sections.flatMap(({ panels }) => panels).find(({ id }) => id === url.viewPanel);
  const content =
    alone === undefined
      ? sections.map((section) => drawSection(section, card, rows))
      : [h('div', { class: 'viewed' }, card({ ...alone, gridPos: { x: 0, y: 0, w: 24, h: 18 } }))];
  const element = h(
    'div',
    { class: 'dashboard' },
    h(
      'div',
      { class: 'dashboard-head' },
      h('div', { class: 'dashboard-title' }, h('h1', {}, board.title), h('p', {}, board.description ?? '')),
      time.element,
    ),
    variables.element,
    ...content,
  );

  function load(): void {
    const now = Date.now();
    resolved = resolveRange(range, now) ?? resolved;
    inFlight.abort();
    inFlight = new AbortController();
    for (const one of cards) one.load();
    time.busy(true);
    void loadAround(inFlight.signal).finally(() => time.busy(false));
  }

  /** What belongs to all panels: options of the filters, and notes on the time axis. */
  async function loadAround(signal: AbortSignal): Promise<void> {
    const quiet = <T>(answer: Promise<T>): Promise<T | null> =>
      answer.catch((error: unknown) => {
        if (!isAbort(error)) console.warn((error as Error).message);
        return null;
      });
    const [listed, noted] = await Promise.all([
      quiet(api.variables(scope(), signal)),
      quiet(api.annotations(scope(), signal)),
    ]);
    if (signal.aborted) return;
    if (listed !== null) options = listed.options;
    variables.update(options, chosen);
    const before = JSON.stringify(annotations);
    annotations = noted?.annotations ?? annotations;
    if (JSON.stringify(annotations) !== before) for (const one of cards) one.redraw();
  }

  const every = refreshMs(refresh);
  // Asking anew ends what is under way: where answers take longer than the interval there would never be one.
  const mayRefresh = (): boolean =>
    document.visibilityState === 'visible' && !cards.some((one) => one.isAsking());
  const timer = every === 0 ? null : setInterval(() => mayRefresh() && load(), every);
  load();

  return {
    element,
    state: () => ({ range, refresh, variables: chosen }),
    refresh: load,
    redraw: () => cards.forEach((one) => one.redraw()),
    zoomOut: () => setRange(zoomOut(resolved, Date.now())),
    shift: (direction) => setRange(shift(resolved, direction, Date.now())),
    leaveView() {
      if (url.viewPanel === null) return false;
      go(writeUrl({ ...address, viewPanel: null }));
      return true;
    },
    openRange: () => time.openRange(),
    toggleRows() {
      const open = rows.some((row) => !row.isOpen());
      for (const row of rows) row.open(open);
    },
    destroy() {
      if (timer !== null) clearInterval(timer);
      inFlight.abort();
      for (const one of cards) one.destroy();
    },
  };
}

function drawSection(
  { id, title, collapsed, panels }: Section,
  card: (panel: Dashboard['panels'][number]) => HTMLElement,
  rows: { open: (open: boolean) => void; readonly isOpen: () => boolean }[],
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

/** What a link to a sibling dashboard keeps. */
export const keptVariables = (variables: ConsoleScope['variables']): ConsoleScope['variables'] =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([, values]) => !values.includes(ALL) && values.some((value) => value !== ''),
    ),
  );

import { sectionsOf,              } from '../model/layout.js';
import { resolveRange, shift, zoomOut,                               } from '../model/time-range.js';

import { ALL, chosenOf, refreshMs, writeUrl,               } from '../model/url-state.js';
import { api, isAbort } from './api.js';
import { h, icon } from './dom.js';
import { createPanelCard,                               } from './panel-card.js';
import { createTimeControls } from './time-controls.js';
import { createVariableControls } from './variable-controls.js';

/** One opened dashboard. */

/**
 * @param go goes to an address of this page; it replaces the view
 */
export function createDashboardView(
  board           ,
  url          ,
  go                                           ,
)                {
  const range           = url.range ?? board.time ?? { from: 'now-6h', to: 'now' };
  const refresh = url.refresh ?? (typeof board.refresh === 'string' ? board.refresh : '');
  const chosen = chosenOf(board, url.variables);
  let resolved            = resolveRange(range, Date.now()) ?? {
    from: Date.now() - 21_600_000,
    to: Date.now(),
  };
  let annotations                               = [];
  let options                                                      = {};
  let inFlight = new AbortController();

  const scope = ()               => ({ dashboard: board.uid, ...resolved, variables: chosen });
  const address = { uid: board.uid, range, refresh, variables: chosen, viewPanel: url.viewPanel };
  const setRange = (next          )       => go(writeUrl({ ...address, range: next }));

  const host           = {
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

  const cards              = [];
  const rows                                                                      = [];
  const card = (panel                             )              => {
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

  function load()       {
    const now = Date.now();
    resolved = resolveRange(range, now) ?? resolved;
    inFlight.abort();
    inFlight = new AbortController();
    for (const one of cards) one.load();
    time.busy(true);
    void loadAround(inFlight.signal).finally(() => time.busy(false));
  }

  /** What belongs to all panels: options of the filters, and notes on the time axis. */
  async function loadAround(signal             )                {
    const quiet =    (answer            )                    =>
      answer.catch((error         ) => {
        if (!isAbort(error)) console.warn((error         ).message);
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
  const mayRefresh = ()          =>
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
  { id, title, collapsed, panels }         ,
  card                                                     ,
  rows                                                                     ,
)              {
  const top = Math.min(...panels.map(({ gridPos }) => gridPos.y));
  const grid = h('div', { class: 'grid', id: `row-${id}` });
  for (const panel of panels) {
    const element = card(panel);
    element.style.setProperty('--y', String(panel.gridPos.y - top + 1));
    grid.append(element);
  }
  if (title === '') return grid;
  const button = h('button', { type: 'button', 'aria-controls': grid.id }, icon('down'), title);
  const open = (wanted         )       => {
    grid.hidden = !wanted;
    button.setAttribute('aria-expanded', String(wanted));
  };
  button.addEventListener('click', () => open(grid.hidden !== false));
  open(!collapsed);
  rows.push({ open, isOpen: () => grid.hidden === false });
  return h('section', { class: 'row', 'aria-label': title }, h('h2', {}, button), grid);
}

/** What a link to a sibling dashboard keeps. */
export const keptVariables = (variables                           )                            =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([, values]) => !values.includes(ALL) && values.some((value) => value !== ''),
    ),
  );

import { toFrames } from '../model/fields.js';
import { fill } from '../model/links.js';

import { drawAlertList } from '../panels/alert-list.js';

import { HAS_TABLE, RENDERERS } from '../panels/renderers.js';
import { drawAsTable } from '../panels/table.js';
import { api, isAbort } from './api.js';
import { h, icon, iconButton } from './dom.js';
import { popover } from './popover.js';
import { theme } from './theme.js';

/** What a panel needs of the page about it. */

/** A panel: its frame, its states (loading, empty, failed) and what its type draws. */
export function createPanelCard(panel       , host          )            {
  const memory = new Map                 ();
  let content          = { kind: 'none' };
  let drawn               = null;
  let asTable = false;
  let wanted = false;
  let inSight = false;
  let inFlight                         = null;
  let again                                           ;

  const titleId = `panel-${panel.id}`;
  const body = h('div', { class: 'panel-body' });
  const warning = h('p', { class: 'panel-warning', role: 'alert', hidden: true });
  const title = h('h3', { id: titleId, title: panel.title ?? '' }, panel.title ?? '');
  const tools = h('div', { class: 'panel-tools' });
  const head = h('header', { class: 'panel-head' }, title, ...descriptionOf(panel), tools);
  const element = h(
    'section',
    {
      class: `panel panel-${panel.type}`,
      'aria-labelledby': titleId,
      'data-panel': panel.id,
      'data-state': 'loading',
    },
    head,
    warning,
    body,
  );
  element.style.setProperty('--x', String(panel.gridPos.x + 1));
  element.style.setProperty('--w', String(panel.gridPos.w));
  // Where there is room for half: two beside each other, or one alone.
  element.style.setProperty('--half', String(panel.gridPos.w <= 6 ? 12 : 24));
  element.style.setProperty('--h', String(panel.gridPos.h));

  const sight = new IntersectionObserver(
    (entries) => {
      inSight = entries.some(({ isIntersecting }) => isIntersecting);
      if (inSight && wanted) void ask();
    },
    { rootMargin: '300px' },
  );
  sight.observe(element);
  let size = '';
  const resized = new ResizeObserver(() => {
    const now = `${body.clientWidth}x${body.clientHeight}`;
    if (now === size || content.kind === 'none') return;
    size = now;
    redraw();
  });
  resized.observe(body);

  async function ask()                {
    wanted = false;
    clearTimeout(again);
    inFlight?.abort();
    const own = new AbortController();
    inFlight = own;
    if (content.kind !== 'alerts')
      element.dataset['state'] = content.kind === 'none' ? 'loading' : 'reloading';
    element.setAttribute('aria-busy', 'true');
    const [scope, raw] = [host.scope(), host.range()];
    try {
      if (panel.type === 'alertlist') {
        const answer = await api.alerts(own.signal);
        content = { kind: 'alerts', answer, scope, raw };
        // The first evaluation tells what it has found so far.
        const unfinished = answer.error === null && answer.looked < answer.rules;
        if (unfinished) again = setTimeout(() => void ask(), 1_000);
      } else if (needsData(panel)) {
        const maxDataPoints = Math.max(Math.round(body.clientWidth || 600), 50);
        const answer = await api.panel({ ...scope, panel: panel.id, maxDataPoints }, own.signal);
        content = { kind: 'frames', answer, scope, raw };
      } else
        content = { kind: 'frames', answer: { frames: [], intervalMs: 60_000, error: null }, scope, raw };
    } catch (error) {
      if (isAbort(error)) return;
      content = { kind: 'failed', error: (error         ).message };
    }
    if (inFlight !== own) return;
    inFlight = null;
    element.removeAttribute('aria-busy');
    redraw();
  }

  function redraw()       {
    const focus = focusedIndex(body);
    const scroll = [...body.children].map((child) => child.scrollTop);
    drawn?.destroy?.();
    drawn = null;
    body.replaceChildren();
    body.className = 'panel-body';
    const error = problemOf(content);
    warning.hidden = error === null;
    warning.replaceChildren(icon('warning'), error ?? '');
    try {
      drawn = draw();
    } catch (failure) {
      console.error(failure);
      warning.hidden = false;
      warning.replaceChildren(icon('warning'), 'This panel could not be drawn.');
    }
    const empty = drawn?.empty === true;
    if (empty && warning.hidden)
      body.replaceChildren(h('p', { class: 'no-value' }, panel.fieldConfig?.defaults?.noValue ?? 'No data'));
    element.dataset['state'] =
      content.kind === 'none' ? 'loading' : warning.hidden ? (empty ? 'empty' : 'ready') : 'failed';
    drawTools(empty);
    [...body.children].forEach((child, index) => (child.scrollTop = scroll[index] ?? 0));
    focusables(body)[focus]?.focus();
    size = `${body.clientWidth}x${body.clientHeight}`;
  }

  function draw()               {
    if (content.kind === 'none' || content.kind === 'failed') return null;
    const { scope, raw } = content;
    const context               = {
      panel,
      frames: content.kind === 'frames' ? toFrames(panel, content.answer.frames) : [],
      body,
      width: body.clientWidth,
      height: body.clientHeight,
      theme: theme(),
      range: { from: scope.from, to: scope.to },
      intervalMs: content.kind === 'frames' ? content.answer.intervalMs : 60_000,
      annotations: host.annotations(),
      linkContext: { variables: scope.variables, range: raw, times: scope },
      memory,
      zoomTo: host.zoomTo,
      follow: host.follow,
      redraw,
    };
    if (content.kind === 'alerts') return drawAlertList(context, content.answer);
    if (content.answer.frames.length === 0 && content.answer.error !== null) return null;
    const unknown = unsupported(panel);
    if (unknown !== null) {
      body.append(h('p', { class: 'no-value' }, unknown));
      return { summary: unknown };
    }
    return asTable ? drawAsTable(context) : (RENDERERS[panel.type]?.(context) ?? null);
  }

  function drawTools(empty         )       {
    const buttons                = [];
    const span = drawn?.span;
    const { from, to } = host.scope();
    const isOutside = ([first, last]                           )          => last < from || first > to;
    if (
      span != null &&
      !asTable &&
      (isOutside(span) || (panel.type === 'state-timeline' && span[1] - span[0] < (to - from) / 10))
    ) {
      const room = Math.max((span[1] - span[0]) * 0.1, 2_000);
      const fit = iconButton('fit', 'Zoom to the data', () =>
        host.zoomTo(Math.floor(span[0] - room), Math.ceil(span[1] + room)),
      );
      fit.classList.add('always');
      buttons.push(fit);
    }
    if (HAS_TABLE.has(panel.type) && !(empty && !asTable)) {
      const button = iconButton(
        asTable ? 'chart' : 'table',
        asTable ? 'Show as a plot' : 'Show as a table',
        () => {
          asTable = !asTable;
          redraw();
          tools.querySelector             ('[data-tool=table]')?.focus();
        },
      );
      button.dataset['tool'] = 'table';
      buttons.push(button);
    }
    const viewed = host.isViewed(panel.id);
    buttons.push(
      iconButton(viewed ? 'shrink' : 'expand', viewed ? 'Back to the dashboard' : 'Show alone', () =>
        host.toggleView(panel.id),
      ),
    );
    const focus = focusedIndex(tools);
    tools.replaceChildren(...buttons);
    focusables(tools)[focus]?.focus();
  }

  return {
    element,
    load() {
      wanted = true;
      if (inSight) void ask();
    },
    isAsking: () => inFlight !== null,
    redraw() {
      if (content.kind !== 'none') redraw();
    },
    destroy() {
      clearTimeout(again);
      inFlight?.abort();
      sight.disconnect();
      resized.disconnect();
      drawn?.destroy?.();
    },
  };
}

const needsData = (panel       )          => (panel.targets ?? []).length > 0 && panel.type in RENDERERS;

/** What of the panel this page cannot draw; Grafana does. */
function unsupported(panel       )                {
  if (!(panel.type in RENDERERS)) return `Panels of the type "${panel.type}" are drawn by Grafana only.`;
  const step = panel.transformations?.find(({ disabled }) => disabled !== true);
  return step === undefined ? null : `This panel's transformation "${step.id}" is done by Grafana only.`;
}

const problemOf = (content         )                =>
  content.kind === 'none' ? null : content.kind === 'failed' ? content.error : content.answer.error;

/** An "i" that shows what the panel is about. */
function descriptionOf({ description, title }       )                {
  if (description === undefined || description === '') return [];
  const button = iconButton('info', `About: ${title ?? 'this panel'}`, () => undefined);
  button.title = description;
  return [
    popover(button, `About: ${title ?? 'this panel'}`, (box) => {
      box.classList.add('description');
      box.append(h('p', { tabindex: -1 }, fill(description, NO_CONTEXT, false)));
    }),
  ];
}
const NO_CONTEXT = { variables: {}, range: { from: '', to: '' }, times: { from: 0, to: 0 } };

const focusables = (root             )                => [
  ...root.querySelectorAll             ('a[href], button, [tabindex="0"], summary'),
];
/** Keeps the keyboard's place over a redraw; -1 when it is elsewhere. */
const focusedIndex = (root             )         =>
  root.contains(document.activeElement)
    ? focusables(root).indexOf(document.activeElement               )
    : -1;

import type { ConsoleAnnotation, ConsoleScope } from '../../../schemas/console.ts';
import { toFrames } from '../model/fields.ts';
import { fittingRange, NEW_PANEL, panelStep, type Content, type PanelEvent } from '../model/panel-state.ts';
import type { RawRange } from '../model/time-range.ts';
import type { Panel } from '../model/types.ts';
import { drawAlertList } from '../panels/alert-list.ts';
import type { Drawn, PanelContext } from '../panels/context.ts';
import { HAS_TABLE, RENDERERS } from '../panels/renderers.ts';
import { drawAsTable } from '../panels/table.ts';
import { api, isAbort } from './api.ts';
import { h, iconButton } from './dom.ts';
import { createPanelFrame, drawInto, drawTools, showWaiting, watchSight, watchSize } from './panel-frame.ts';
import { theme } from './theme.ts';

/** What a panel needs of the page about it. */
export interface CardHost {
  readonly scope: () => ConsoleScope;
  readonly range: () => RawRange;
  readonly annotations: () => readonly ConsoleAnnotation[];
  readonly zoomTo: (from: number, to: number) => void;
  readonly follow: (href: string) => void;
  readonly toggleView: (panel: number) => void;
  readonly isViewed: (panel: number) => boolean;
}

export interface PanelCard {
  readonly element: HTMLElement;
  /** Asks for data; when the panel is not in sight, once it comes into sight. */
  load(): void;
  /** Is a question under way? */
  isAsking(): boolean;
  /** Draws again what is there: another size, theme or time note. */
  redraw(): void;
  destroy(): void;
}

/** A panel: its frame, its states (loading, empty, failed) and what its type draws. */
export function createPanelCard(panel: Panel, host: CardHost): PanelCard {
  const memory = new Map<string, unknown>();
  const frame = createPanelFrame(panel);
  const { element, body } = frame;
  let state = NEW_PANEL;
  let drawn: Drawn | null = null;
  let inFlight = new AbortController();

  function dispatch(event: PanelEvent): void {
    const step = panelStep(state, event);
    state = step.state;
    for (const effect of step.effects)
      if (effect === 'ask') void ask(state.question);
      else draw();
  }

  async function ask(question: number): Promise<void> {
    inFlight.abort();
    inFlight = new AbortController();
    const { signal } = inFlight;
    showWaiting(frame, state.content);
    const content = await askFor(panel, host, body.clientWidth, signal);
    if (content !== null && !signal.aborted) dispatch({ kind: 'answered', question, content });
  }

  function draw(): void {
    if (!state.isAsking) element.removeAttribute('aria-busy');
    // Somebody is typing: what is new can wait.
    if (body.querySelector('form') !== null) return;
    drawn?.destroy?.();
    drawn = drawInto(frame, state.content, () =>
      drawContent({ panel, host, body, memory, redraw: draw, reload }, state.content, state.asTable),
    );
    drawTools(frame, toolsOf(panel, host, state.asTable, drawn, switchView));
    size.settle();
  }

  function switchView(): void {
    dispatch({ kind: 'switched' });
    frame.tools.querySelector<HTMLElement>('[data-tool=table]')?.focus();
  }

  const reload = (): void => dispatch({ kind: 'wanted' });
  const redraw = (): void => {
    if (state.content.kind !== 'none') draw();
  };
  const sight = watchSight(element, (isInSight) => dispatch({ kind: 'sight', isInSight }));
  const size = watchSize(body, redraw);

  return {
    element,
    load: reload,
    isAsking: () => state.isAsking,
    redraw,
    destroy() {
      inFlight.abort();
      sight.stop();
      size.stop();
      drawn?.destroy?.();
    },
  };
}

/** Never rejects: a failure is content. Null when the question was withdrawn. */
async function askFor(
  panel: Panel,
  host: CardHost,
  width: number,
  signal: AbortSignal,
): Promise<Content | null> {
  const asked = { scope: host.scope(), raw: host.range() };
  try {
    if (panel.type === 'alertlist') return { ...(await askForAlerts(signal)), ...asked };
    if (!needsData(panel))
      return { kind: 'frames', answer: { frames: [], intervalMs: 60_000, error: null }, ...asked };
    const maxDataPoints = Math.max(Math.round(width || 600), 50);
    const answer = await api.panel({ ...asked.scope, panel: panel.id, maxDataPoints }, signal);
    return { kind: 'frames', answer, ...asked };
  } catch (error) {
    return isAbort(error) ? null : { kind: 'failed', error: (error as Error).message };
  }
}

/** The list without the incidents is better than none. */
async function askForAlerts(signal: AbortSignal) {
  const [answer, story] = await Promise.all([api.alerts(signal), api.incidents(0, signal).catch(() => null)]);
  return { kind: 'alerts', answer, ...(story === null ? {} : { incidents: story.incidents }) } as const;
}

interface DrawingParts {
  readonly panel: Panel;
  readonly host: CardHost;
  readonly body: HTMLElement;
  readonly memory: Map<string, unknown>;
  readonly redraw: () => void;
  readonly reload: () => void;
}

function drawContent(parts: DrawingParts, content: Content, asTable: boolean): Drawn | null {
  if (content.kind === 'none' || content.kind === 'failed') return null;
  const { host, ...common } = parts;
  const { panel, body } = common;
  const { scope, raw } = content;
  const context: PanelContext = {
    ...common,
    frames: content.kind === 'frames' ? toFrames(panel, content.answer.frames) : [],
    width: body.clientWidth,
    height: body.clientHeight,
    theme: theme(),
    range: { from: scope.from, to: scope.to },
    intervalMs: content.kind === 'frames' ? content.answer.intervalMs : 60_000,
    annotations: host.annotations(),
    linkContext: { variables: scope.variables, range: raw },
    zoomTo: host.zoomTo,
    follow: host.follow,
  };
  if (content.kind === 'alerts') return drawAlertList(context, content.answer, content.incidents);
  if (content.answer.frames.length === 0 && content.answer.error !== null) return null;
  const unknown = unsupported(panel);
  if (unknown !== null) {
    body.append(h('p', { class: 'no-value' }, unknown));
    return { summary: unknown };
  }
  return asTable ? drawAsTable(context) : (RENDERERS[panel.type]?.(context) ?? null);
}

/** The buttons of the head that fit what is shown. */
function toolsOf(
  panel: Panel,
  host: CardHost,
  asTable: boolean,
  drawn: Drawn | null,
  switchView: () => void,
): HTMLElement[] {
  const fitting = drawn?.span == null || asTable ? null : fittingRange(panel.type, drawn.span, host.scope());
  const viewed = host.isViewed(panel.id);
  const buttons = [
    iconButton(viewed ? 'shrink' : 'expand', viewed ? 'Back to the dashboard' : 'Show alone', () =>
      host.toggleView(panel.id),
    ),
  ];
  if (HAS_TABLE.has(panel.type) && (asTable || drawn?.empty !== true)) {
    const [name, label] = asTable
      ? (['chart', 'Show as a plot'] as const)
      : (['table', 'Show as a table'] as const);
    const button = iconButton(name, label, switchView);
    button.dataset['tool'] = 'table';
    buttons.unshift(button);
  }
  if (fitting !== null) {
    const button = iconButton('fit', 'Zoom to the data', () => host.zoomTo(fitting.from, fitting.to));
    button.classList.add('always');
    buttons.unshift(button);
  }
  return buttons;
}

const needsData = (panel: Panel): boolean => (panel.targets ?? []).length > 0 && panel.type in RENDERERS;

/** What of the panel this page cannot draw; Grafana does. */
function unsupported(panel: Panel): string | null {
  return panel.type in RENDERERS ? null : `Panels of the type "${panel.type}" are drawn by Grafana only.`;
}

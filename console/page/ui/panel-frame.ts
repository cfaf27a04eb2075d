import { fill } from '../model/links.ts';
import { problemOf, waitingFor, type Content } from '../model/panel-state.ts';
import type { Panel } from '../model/types.ts';
import type { Drawn } from '../panels/context.ts';
import { h, icon, iconButton, style } from './dom.ts';
import { popover } from './popover.ts';

/** The elements about what is drawn. */
export interface PanelFrame {
  readonly panel: Panel;
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  readonly warning: HTMLElement;
  readonly tools: HTMLElement;
}

export function createPanelFrame(panel: Panel): PanelFrame {
  const { x, w, h: height } = panel.gridPos;
  const titleId = `panel-${panel.id}`;
  const body = h('div', { class: 'panel-body' });
  const warning = h('p', { class: 'panel-warning', role: 'alert', hidden: true });
  const title = h('h3', { id: titleId, title: panel.title ?? '' }, panel.title ?? '');
  const tools = h('div', { class: 'panel-tools' });
  const element = h(
    'section',
    {
      class: `panel panel-${panel.type}`,
      'aria-labelledby': titleId,
      'data-panel': panel.id,
      'data-state': 'loading',
    },
    h('header', { class: 'panel-head' }, title, ...descriptionOf(panel), tools),
    warning,
    body,
  );
  style(element, {
    '--x': String(x + 1),
    '--w': String(w),
    // Where there is room for half: two beside each other, or one alone.
    '--half': String(w <= 6 ? 12 : 24),
    '--h': String(height),
  });
  return { panel, element, body, warning, tools };
}

/** Shows that an answer is on its way. */
export function showWaiting({ element }: PanelFrame, content: Content): void {
  const waiting = waitingFor(content);
  if (waiting !== null) element.dataset['state'] = waiting;
  element.setAttribute('aria-busy', 'true');
}

/** Draws anew; the keyboard's place and what was scrolled to stay. */
export function drawInto(frame: PanelFrame, content: Content, draw: () => Drawn | null): Drawn | null {
  const { panel, element, body, warning } = frame;
  const focus = focusedIndex(body);
  const scroll = [...body.children].map((child) => child.scrollTop);
  body.replaceChildren();
  body.className = 'panel-body';
  let problem = problemOf(content);
  let drawn: Drawn | null = null;
  try {
    drawn = draw();
  } catch (failure) {
    console.error(failure);
    problem = 'This panel could not be drawn.';
  }
  warning.hidden = problem === null;
  warning.replaceChildren(icon('warning'), problem ?? '');
  const empty = drawn?.empty === true;
  if (empty && problem === null)
    body.replaceChildren(h('p', { class: 'no-value' }, panel.fieldConfig?.defaults?.noValue ?? 'No data'));
  element.dataset['state'] =
    content.kind === 'none' ? 'loading' : problem !== null ? 'failed' : empty ? 'empty' : 'ready';
  [...body.children].forEach((child, index) => (child.scrollTop = scroll[index] ?? 0));
  focusables(body)[focus]?.focus();
  return drawn;
}

export function drawTools({ tools }: PanelFrame, buttons: readonly HTMLElement[]): void {
  const focus = focusedIndex(tools);
  tools.replaceChildren(...buttons);
  focusables(tools)[focus]?.focus();
}

/** Reports when an element comes near what can be seen, and when it leaves. */
export function watchSight(element: HTMLElement, changed: (isInSight: boolean) => void): { stop(): void } {
  const observer = new IntersectionObserver(
    (entries) => changed(entries.some(({ isIntersecting }) => isIntersecting)),
    { rootMargin: '300px' },
  );
  observer.observe(element);
  return { stop: () => observer.disconnect() };
}

/** Calls back when the size of an element changes; `settle` takes the size of now as known. */
export function watchSize(element: HTMLElement, changed: () => void): { settle(): void; stop(): void } {
  const measured = (): string => `${element.clientWidth}x${element.clientHeight}`;
  let known = '';
  const observer = new ResizeObserver(() => {
    if (measured() !== known) changed();
  });
  observer.observe(element);
  return { settle: () => void (known = measured()), stop: () => observer.disconnect() };
}

/** An "i" that shows what the panel is about. */
function descriptionOf({ description, title }: Panel): HTMLElement[] {
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
const NO_CONTEXT = { variables: {}, range: { from: '', to: '' } };

const focusables = (root: HTMLElement): HTMLElement[] => [
  ...root.querySelectorAll<HTMLElement>('a[href], button, [tabindex="0"], summary'),
];
/** Keeps the keyboard's place over a redraw; -1 when it is elsewhere. */
const focusedIndex = (root: HTMLElement): number =>
  root.contains(document.activeElement)
    ? focusables(root).indexOf(document.activeElement as HTMLElement)
    : -1;

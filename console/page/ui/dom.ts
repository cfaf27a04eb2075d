type Child = Node | string | null | undefined | false;
type Props = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: never) => void)>
>;

/**
 * Makes an element. Properties that start with `on` listen; `true` sets an attribute without value, `null`
 * and `false` none. Texts become text nodes: nothing here is ever read as HTML.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  assign(element, props);
  append(element, children);
  return element;
}

/** The same for SVG. */
export function svg(tag: string, props: Props = {}, ...children: readonly Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  assign(element, props);
  append(element, children);
  return element;
}

function assign(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false) element.append(child);
}

/** Styles by property: the page's policy forbids style attributes. */
export function style<E extends HTMLElement | SVGElement>(
  element: E,
  properties: Readonly<Record<string, string>>,
): E {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

/** Icons of 16 by 16, drawn in the text's colour. */
const ICONS = {
  info: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 7v4M8 4.6v.6',
  table: 'M2 3h12v10H2zM2 6.5h12M2 9.7h12M6.5 6.5V13',
  chart: 'M2 13.5h12M3.5 11l3-4 2.5 2 4-5.5',
  expand: 'M6 2H2v4M10 2h4v4M6 14H2v-4M10 14h4v-4',
  shrink: 'M2 6h4V2M14 6h-4V2M2 10h4v4M14 10h-4v4',
  zoomOut: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3 14 14M5 7h4',
  fit: 'M2 3v10M14 3v10M4.5 8h7M6.5 6l-2 2 2 2M9.5 6l2 2-2 2',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 2v3h-3',
  clock: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM8 4.5V8l2.5 1.5',
  down: 'M4 6.5 8 10.5l4-4',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13',
  moon: 'M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z',
  help: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM6 6.2a2 2 0 1 1 2.8 1.9c-.5.2-.8.6-.8 1.2M8 11.2v.3',
  warning: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3.5M8 11.6v.4',
  check: 'M3 8.5 6.5 12 13 4.5',
  close: 'M4 4l8 8M12 4l-8 8',
  left: 'M10 3.5 5.5 8l4.5 4.5',
} as const;
export type IconName = keyof typeof ICONS;

export const icon = (name: IconName): SVGElement =>
  svg('svg', { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: ICONS[name] }));

/** A button that shows an icon and says what it does. */
export function iconButton(
  name: IconName,
  label: string,
  onclick: (event: MouseEvent) => void,
): HTMLButtonElement {
  return h(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick },
    icon(name),
  );
}

import { h } from './dom.ts';

let shown: HTMLElement | null = null;

export function hideTooltip(): void {
  shown?.remove();
  shown = null;
}

/** Shows a box beside a point of the window, on the side where there is room. */
export function showTooltip(
  x: number,
  y: number,
  content: readonly (Node | string)[],
  pinned = false,
): HTMLElement {
  hideTooltip();
  const box = h('div', { class: pinned ? 'tooltip pinned' : 'tooltip', role: pinned ? 'dialog' : 'tooltip' });
  box.append(...content);
  document.body.append(box);
  const { width, height } = box.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const left = x + 14 + width > clientWidth ? x - 14 - width : x + 14;
  const top = Math.min(Math.max(y - height / 2, 8), clientHeight - height - 8);
  box.style.setProperty('left', `${Math.max(left, 4)}px`);
  box.style.setProperty('top', `${top}px`);
  shown = box;
  return box;
}

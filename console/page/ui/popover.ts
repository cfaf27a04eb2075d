import { h } from './dom.ts';

let open: { readonly close: (refocus: boolean) => void } | null = null;

/** Closes what is open, e.g. before the page changes. */
export const closePopover = (): void => open?.close(false);

/**
 * A button that opens a box below it. Escape, a click elsewhere and leaving it by Tab close it; the focus
 * goes back to the button.
 */
export function popover(
  button: HTMLButtonElement,
  label: string,
  fill: (box: HTMLElement, close: () => void) => void,
): HTMLElement {
  const wrapper = h('div', { class: 'popover' }, button);
  button.setAttribute('aria-haspopup', 'dialog');
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-expanded') === 'true') return open?.close(true);
    open?.close(false);
    const box = h('div', { class: 'popover-box', role: 'dialog', 'aria-label': label });
    const close = (refocus: boolean): void => {
      box.remove();
      button.setAttribute('aria-expanded', 'false');
      document.removeEventListener('pointerdown', outside);
      open = null;
      if (refocus) button.focus();
    };
    const outside = (event: PointerEvent): void => {
      if (!wrapper.contains(event.target as Node)) close(false);
    };
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      close(true);
    });
    box.addEventListener('focusout', (event) => {
      if (event.relatedTarget instanceof Node && !wrapper.contains(event.relatedTarget)) close(false);
    });
    fill(box, () => close(true));
    wrapper.append(box);
    button.setAttribute('aria-expanded', 'true');
    document.addEventListener('pointerdown', outside);
    open = { close };
    keepInside(box);
    box.querySelector<HTMLElement>('input:checked, input, button, a')?.focus();
  });
  return wrapper;
}

/** A box that would reach past the window's right edge opens to the left. */
function keepInside(box: HTMLElement): void {
  if (box.getBoundingClientRect().right > document.documentElement.clientWidth - 8)
    box.classList.add('from-right');
}

import type { ConsoleAnnotation } from '../../../schemas/console.ts';
import type { Theme } from '../model/colours.ts';
import type { Field, Frame } from '../model/fields.ts';
import { linksOf, type Link, type LinkContext } from '../model/links.ts';
import type { TimeRange } from '../model/time-range.ts';
import type { Panel } from '../model/types.ts';
import { h } from '../ui/dom.ts';

/** What a renderer draws from. */
export interface PanelContext {
  readonly panel: Panel;
  readonly frames: readonly Frame[];
  /** Empty; the renderer fills it. */
  readonly body: HTMLElement;
  /** Of the body, CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly theme: Theme;
  readonly range: TimeRange;
  readonly intervalMs: number;
  readonly annotations: readonly ConsoleAnnotation[];
  readonly linkContext: Pick<LinkContext, 'variables' | 'range'>;
  /** Lives as long as the panel does: hidden series, the order of rows. */
  readonly memory: Map<string, unknown>;
  /** Chooses the range. Epoch milliseconds. */
  readonly zoomTo: (from: number, to: number) => void;
  /** Goes to another dashboard, or elsewhere. */
  readonly follow: (href: string) => void;
  readonly redraw: () => void;
  /** Asks for new data. */
  readonly reload: () => void;
}

export interface Drawn {
  /** One sentence of what can be seen, for those who cannot. */
  readonly summary: string;
  /** Null: there is nothing to see, and `noValue` is shown instead. */
  readonly empty?: boolean;
  /** First and last instant that has data. */
  readonly span?: readonly [number, number] | null;
  readonly destroy?: () => void;
}

export type Renderer = (context: PanelContext) => Drawn;

/** Options of a panel type, where the file has them. */
export const optionsOf = <T extends object>(panel: Panel): Partial<T> => (panel.options ?? {}) as Partial<T>;

/** The links of one cell of a frame. */
export function cellLinks(context: PanelContext, frame: Frame, field: Field, row: number): Link[] {
  if (field.config.links === undefined) return [];
  return linksOf(field.config.links, {
    ...context.linkContext,
    field,
    value: field.values[row],
    row: Object.fromEntries(frame.fields.map(({ name, values }) => [name, values[row]])),
  });
}

export const anchor = (
  { href, title, newTab }: Link,
  ...children: readonly (Node | string)[]
): HTMLAnchorElement =>
  h('a', { href, title, ...(newTab ? { target: '_blank', rel: 'noreferrer' } : {}) }, ...children);

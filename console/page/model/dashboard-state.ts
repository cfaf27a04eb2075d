import type {
  AnnotationsAnswer,
  ChosenValues,
  ConsoleAnnotation,
  ConsoleScope,
  VariableOption,
  VariablesAnswer,
} from '../../../schemas/console.ts';
import { resolveRange, type RawRange, type TimeRange } from './time-range.ts';
import type { Dashboard, Panel } from './types.ts';
import { ALL, chosenOf, writeUrl, type Address, type UrlState } from './url-state.ts';

/** One opened dashboard: where it is, and what has been loaded for all of its panels. */
export interface DashboardState {
  readonly address: Required<Address>;
  /** The address's range at the time of the last load. */
  readonly times: TimeRange;
  /** Options of the variables that a query fills, by variable. */
  readonly options: Readonly<Record<string, readonly VariableOption[]>>;
  readonly annotations: readonly ConsoleAnnotation[];
}

const SIX_HOURS_MS = 21_600_000;

/** @param now epoch milliseconds */
export function openDashboard(board: Dashboard, url: UrlState, now: number): DashboardState {
  const range = url.range ?? board.time ?? { from: 'now-6h', to: 'now' };
  return {
    address: {
      uid: board.uid,
      range,
      refresh: url.refresh ?? (typeof board.refresh === 'string' ? board.refresh : ''),
      variables: chosenOf(board, url.variables),
      viewPanel: url.viewPanel,
    },
    times: resolveRange(range, now) ?? { from: now - SIX_HOURS_MS, to: now },
    options: {},
    annotations: [],
  };
}

/** A relative range moves on with the clock. */
export const atTime = (state: DashboardState, now: number): DashboardState => ({
  ...state,
  times: resolveRange(state.address.range, now) ?? state.times,
});

/** What could not be loaded stays as it was. */
export function withLoaded(
  state: DashboardState,
  listed: VariablesAnswer | null,
  noted: AnnotationsAnswer | null,
): DashboardState {
  return {
    ...state,
    options: listed?.options ?? state.options,
    annotations: noted?.annotations ?? state.annotations,
  };
}

export const scopeOf = ({ address, times }: DashboardState): ConsoleScope => ({
  dashboard: address.uid,
  ...times,
  variables: address.variables,
});

/** The address of the same dashboard with something changed. */
export const hrefWith = ({ address }: DashboardState, change: Partial<Address>): string =>
  writeUrl({ ...address, ...change });

/** The range from a drag over a plot: at least a second. */
export const draggedRange = (from: number, to: number): RawRange => ({
  from: String(Math.round(from)),
  to: String(Math.round(Math.max(to, from + 1000))),
});

/** What a link to a sibling dashboard keeps. */
export const keptVariables = (variables: ChosenValues): ChosenValues =>
  Object.fromEntries(
    Object.entries(variables).filter(
      ([, values]) => !values.includes(ALL) && values.some((value) => value !== ''),
    ),
  );

/** A row and what it holds; panels above the first row stand in one without a title. */
export interface Section {
  readonly id: number;
  readonly title: string;
  readonly collapsed: boolean;
  readonly panels: readonly Panel[];
}

/** Panels belong to the row above them; a collapsed row carries its own. */
export function sectionsOf(panels: readonly Panel[]): Section[] {
  const sections: { id: number; title: string; collapsed: boolean; panels: Panel[] }[] = [];
  const ordered = panels.toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x);
  for (const panel of ordered) {
    if (panel.type === 'row')
      sections.push({
        id: panel.id,
        title: panel.title ?? '',
        collapsed: panel.collapsed ?? false,
        panels: [...(panel.panels ?? [])],
      });
    else {
      if (sections.length === 0) sections.push({ id: 0, title: '', collapsed: false, panels: [] });
      sections.at(-1)?.panels.push(panel);
    }
  }
  return sections.filter(({ title, panels: inner }) => title !== '' || inner.length > 0);
}

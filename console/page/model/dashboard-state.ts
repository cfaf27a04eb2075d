import type {
  AnnotationsAnswer,
  ChosenValues,
  ConsoleAnnotation,
  ConsoleScope,
  VariableOption,
  VariablesAnswer,
} from '../../../schemas/console.ts';
import { resolveRange, type RawRange, type TimeRange } from './time-range.ts';
import type { Dashboard } from './types.ts';
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

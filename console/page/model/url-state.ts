import type { ChosenValues } from '../../../schemas/console.ts';
import type { Dashboard, Variable } from './types.ts';
import type { RawRange } from './time-range.ts';

export const ALL = '$__all';

/**
 * All that an address says, in Grafana's words:
 * `/d/uid?from=now-3h&to=now&refresh=1m&var-gateway=acme&viewPanel=7`.
 */
export interface UrlState {
  readonly uid: string;
  /** Null where the address leaves it to the dashboard. */
  readonly range: RawRange | null;
  readonly refresh: string | null;
  readonly variables: ChosenValues;
  readonly viewPanel: number | null;
}

export function readUrl(pathname: string, search: string): UrlState {
  const params = new URLSearchParams(search);
  const variables: Record<string, string[]> = {};
  for (const [key, value] of params)
    if (key.startsWith('var-')) (variables[key.slice(4)] ??= []).push(value === 'All' ? ALL : value);
  const [from, to] = [params.get('from'), params.get('to')];
  const panel = Number(params.get('viewPanel')?.replace(/^panel-/, '') ?? Number.NaN);
  return {
    uid: decodeURIComponent(/^\/d\/([^/]+)/.exec(pathname)?.[1] ?? ''),
    range: from === null && to === null ? null : { from: from ?? 'now-6h', to: to ?? 'now' },
    refresh: params.get('refresh'),
    variables,
    viewPanel: Number.isInteger(panel) ? panel : null,
  };
}

export interface Address {
  readonly uid: string;
  readonly range: RawRange;
  readonly refresh: string;
  readonly variables: ChosenValues;
  readonly viewPanel?: number | null;
}

export function writeUrl({ uid, range, refresh, variables, viewPanel = null }: Address): string {
  const params = new URLSearchParams();
  for (const [name, values] of Object.entries(variables))
    for (const value of values) params.append(`var-${name}`, value);
  params.set('from', range.from);
  params.set('to', range.to);
  if (refresh !== '') params.set('refresh', refresh);
  if (viewPanel !== null) params.set('viewPanel', String(viewPanel));
  return `/d/${encodeURIComponent(uid)}?${params}`;
}

/** Does the page let one choose its values? The data source is the collector's store. */
export const isChoice = ({ type }: Variable): boolean => type !== 'datasource';

/** What is chosen: by the address, else by the dashboard's file. */
export function chosenOf(board: Dashboard, fromUrl: ChosenValues): ChosenValues {
  const chosen: Record<string, readonly string[]> = {};
  for (const variable of board.templating?.list ?? []) {
    if (variable.type === 'datasource') continue;
    const asked = fromUrl[variable.name];
    const current = [variable.current?.value ?? (variable.includeAll === true ? ALL : '')].flat();
    const values =
      asked === undefined ? current : asked.filter((value) => value !== '' || variable.type === 'textbox');
    const some = values.length === 0 ? current : values;
    chosen[variable.name] = some.includes(ALL) ? [ALL] : some;
  }
  return chosen;
}

/** `1m` in milliseconds; 0 for no refresh. */
export function refreshMs(text: string): number {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  return Number(amount ?? 0) * (unit === 'h' ? 3_600_000 : unit === 'm' ? 60_000 : 1_000);
}

export const ALL = '$__all';

/**
 * All that an address says, in Grafana's words:
 * `/d/uid?from=now-3h&to=now&refresh=1m&var-gateway=acme&viewPanel=7`.
 */

export function readUrl(pathname        , search        )           {
  const params = new URLSearchParams(search);
  const variables                           = {};
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

export function writeUrl({ uid, range, refresh, variables, viewPanel = null }         )         {
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
export const isChoice = ({ type, hide }          )          =>
  type !== 'datasource' && type !== 'adhoc' && hide !== 2;

/** What is chosen: by the address, else by the dashboard's file. */
export function chosenOf(board           , fromUrl              )               {
  const chosen                                    = {};
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
export function refreshMs(text        )         {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  return Number(amount ?? 0) * (unit === 'h' ? 3_600_000 : unit === 'm' ? 60_000 : 1_000);
}

import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { ORDER_TYPES, REASON_GROUPS, STAGES } from '../../schemas/dictionary.ts';
import { view } from '../../schemas/measures.ts';
import { DATASOURCE } from './clickhouse-query.ts';
import { CHOSEN_GATEWAY, inRange } from './filters.ts';

/**
 * The variables of the dashboards: several values, "All" by default. What the dictionary knows is listed;
 * what only the data knows is asked for with every change of the time range.
 */
export type Variable =
  | { readonly name: string; readonly label: string; readonly sql: string }
  | { readonly name: string; readonly label: string; readonly values: readonly (readonly [string, string])[] }
  /** A text field, empty by default. */
  | { readonly name: string; readonly label: string; readonly description: string };

/** Orders that went on in the chosen range, whatever else is chosen. */
const ORDERS = `${view('orders')} WHERE last_item_at >= $__fromTime AND created_at < $__toTime`;

export const GATEWAY: Variable = {
  name: 'gateway',
  label: 'Gateway',
  sql: `SELECT value
FROM
(
  SELECT DISTINCT toString(gateway) AS value FROM ${ORDERS}
  UNION DISTINCT
  SELECT DISTINCT toString(gateway) AS value FROM ${view('gatewayStatus')} WHERE ${inRange('reported_at')}
)
ORDER BY value`,
};
export const ORDER_TYPE: Variable = {
  name: 'order_type',
  label: 'Order type',
  values: ORDER_TYPES.map((type) => [type, type] as const),
};
export const CHANNEL: Variable = {
  name: 'channel',
  label: 'Channel',
  sql: `SELECT DISTINCT toString(channel) AS value FROM ${ORDERS} AND channel != '' AND ${CHOSEN_GATEWAY} ORDER BY value LIMIT 500`,
};
export const STAGE: Variable = {
  name: 'stage',
  label: 'Stage',
  values: STAGES.map(({ code, name, label }) => [`${code} ${label}`, name] as const),
};
export const REASON_GROUP: Variable = {
  name: 'reason_group',
  label: 'Reason group',
  values: REASON_GROUPS.map(({ name, label }) => [`${name} ${label}`, name] as const),
};
export const REASON_VARIABLE: Variable = {
  name: 'reason',
  label: 'Reason',
  sql: `SELECT DISTINCT leftPad(toString(arrayJoin(reasons)), 2, '0') AS value FROM ${ORDERS} ORDER BY value LIMIT 100`,
};
export const ORDER_ID: Variable = {
  name: 'order_id',
  label: 'Order id',
  description: "The order's id in the service (externalId), or the merchant's (externalTransactionId).",
};

const ALL = { selected: true, text: 'All', value: '$__all' } as const;

export function buildVariable(variable: Variable): { build(): dashboard.VariableModel } {
  const { name, label } = variable;
  if ('sql' in variable)
    return (
      new dashboard.QueryVariableBuilder(name)
        .label(label)
        .datasource(DATASOURCE)
        .query({ refId: name, editorType: 'sql', queryType: 'sql', rawSql: variable.sql })
        .definition(variable.sql)
        // With the time range, so that it lists what the range holds.
        .refresh(dashboard.VariableRefresh.OnTimeRangeChanged)
        .sort(dashboard.VariableSort.AlphabeticalAsc)
        .multi(true)
        .includeAll(true)
        // Typed values would reach the SQL.
        .allowCustomValue(false)
        .current(ALL)
    );
  if ('values' in variable)
    return new dashboard.CustomVariableBuilder(name)
      .label(label)
      .values(variable.values.map(([text, value]) => `${text} : ${value}`).join(', '))
      .options([ALL, ...variable.values.map(([text, value]) => ({ selected: false, text, value }))])
      .multi(true)
      .includeAll(true)
      .allowCustomValue(false)
      .current(ALL);
  return new dashboard.TextBoxVariableBuilder(name)
    .label(label)
    .description(variable.description)
    .defaultValue('')
    .current({ selected: true, text: '', value: '' });
}

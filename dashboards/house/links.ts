import { DASHBOARDS, type DashboardName } from '../uids.ts';

/** A link of a field: where a click on a value leads. */
export interface FieldLink {
  readonly title: string;
  readonly url: string;
}

/** What every dashboard about orders lets choose, and what a link between them keeps. */
const KEPT = ['gateway', 'order_type', 'channel'] as const;

/**
 * A link from a value to a dashboard. It keeps the time range, the data source and the chosen gateways, order
 * types and channels, and narrows them by `choose`: values of the target's variables, as text of Grafana's
 * link grammar.
 */
export function linkTo(
  target: DashboardName,
  title: string,
  choose: Readonly<Record<string, string>> = {},
  kept: readonly string[] = KEPT,
): FieldLink {
  const parameters = [
    '${__url_time_range}',
    ...['datasource', ...kept.filter((name) => !(name in choose))].map((name) => `\${${name}:queryparam}`),
    ...Object.entries(choose).map(([name, value]) => `var-${name}=${value}`),
  ];
  return { title, url: `/d/${DASHBOARDS[target].uid}?${parameters.join('&')}` };
}

/** The clicked value itself. */
export const THIS_VALUE = '${__value.raw:percentencode}';
/** Another column of the clicked row. */
export const column = (name: string): string => `\${__data.fields.${name}:percentencode}`;
/** A label of the clicked series. */
export const seriesLabel = (name: string): string => `\${__field.labels.${name}:percentencode}`;

/** From an order's id in a table that also has the columns gateway and order_type. */
export const TO_ORDER = linkTo('order', 'Timeline of this order', {
  order_id: THIS_VALUE,
  gateway: column('gateway'),
  order_type: column('order_type'),
});

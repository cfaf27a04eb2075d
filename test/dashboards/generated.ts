import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** The generated dashboards as files, which is how Grafana and the preview see them. */
const DIR = fileURLToPath(new URL('../../dashboards/out/grafana/dashboards/gatewatch', import.meta.url));

const target = z.object({
  refId: z.string(),
  rawSql: z.string(),
  format: z.literal([0, 1, 3]),
  queryType: z.string(),
  datasource: z.object({ type: z.string(), uid: z.string() }),
});
const override = z.object({
  matcher: z.object({ id: z.string(), options: z.string() }),
  properties: z.array(z.object({ id: z.string(), value: z.unknown() })),
});
const fieldLink = z.object({ title: z.string(), url: z.string() });
const panel = z.object({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  datasource: z.object({ type: z.string(), uid: z.string() }).optional(),
  targets: z.array(target).optional(),
  interval: z.string().optional(),
  fieldConfig: z
    .object({
      defaults: z.looseObject({
        unit: z.string().optional(),
        noValue: z.string().optional(),
        thresholds: z
          .object({ steps: z.array(z.object({ value: z.number().nullable(), color: z.string() })) })
          .optional(),
        mappings: z.array(z.unknown()).optional(),
        color: z.object({ mode: z.string() }).optional(),
      }),
      overrides: z.array(override),
    })
    .optional(),
  options: z
    .looseObject({
      legend: z.object({ showLegend: z.boolean() }).optional(),
      tooltip: z.object({ mode: z.string() }).optional(),
    })
    .optional(),
});
const variable = z.object({
  name: z.string(),
  type: z.string(),
  label: z.string().optional(),
  query: z.union([z.string(), z.object({ rawSql: z.string() })]),
  current: z.object({ value: z.unknown() }).optional(),
  allowCustomValue: z.boolean().optional(),
  datasource: z.object({ uid: z.string() }).optional(),
  refresh: z.number().optional(),
  includeAll: z.boolean().optional(),
});
const dashboard = z.object({
  uid: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  editable: z.boolean(),
  timezone: z.string(),
  refresh: z.string(),
  schemaVersion: z.number(),
  panels: z.array(panel),
  templating: z.object({ list: z.array(variable) }),
  annotations: z.object({ list: z.array(z.looseObject({ name: z.string(), target: target.optional() })) }),
  links: z.array(z.looseObject({ title: z.string() })),
});
export type GeneratedPanel = z.infer<typeof panel>;
export type GeneratedDashboard = z.infer<typeof dashboard>;

interface File {
  readonly name: string;
  readonly json: unknown;
}
export const dashboardFiles = (): File[] =>
  readdirSync(DIR).map((name) => ({
    name,
    json: JSON.parse(readFileSync(`${DIR}/${name}`, 'utf8')) as unknown,
  }));

export const generatedDashboards = (): GeneratedDashboard[] =>
  dashboardFiles().map(({ json }) => dashboard.parse(json));

/** Panels that draw something. */
export const drawnPanels = (board: GeneratedDashboard): GeneratedPanel[] =>
  board.panels.filter((one) => one.type !== 'row');

export const panelNamed = (title: string): GeneratedPanel => {
  const found = generatedDashboards()
    .flatMap(drawnPanels)
    .find((one) => one.title === title);
  if (found === undefined) throw new Error(`no panel "${title}"`);
  return found;
};

/** Links that values of the panel lead to. */
export const linksOf = (one: GeneratedPanel): z.infer<typeof fieldLink>[] =>
  (one.fieldConfig?.overrides ?? [])
    .flatMap(({ properties }) => properties)
    .filter(({ id }) => id === 'links')
    .flatMap(({ value }) => z.array(fieldLink).parse(value));

/** Every query of a dashboard, with where it stands. */
export function queriesOf(
  board: GeneratedDashboard,
): { where: string; sql: string; format: 0 | 1 | 3 | 'variable' }[] {
  return [
    ...drawnPanels(board).flatMap((one) =>
      (one.targets ?? []).map(({ rawSql, format }) => ({
        where: `panel "${one.title}"`,
        sql: rawSql,
        format,
      })),
    ),
    ...board.templating.list.flatMap(({ name, query }) =>
      typeof query === 'string'
        ? []
        : [{ where: `variable ${name}`, sql: query.rawSql, format: 'variable' as const }],
    ),
    ...board.annotations.list.flatMap(({ name, target: one }) =>
      one === undefined ? [] : [{ where: `annotation "${name}"`, sql: one.rawSql, format: one.format }],
    ),
  ];
}

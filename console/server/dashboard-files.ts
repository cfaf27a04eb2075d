import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { GatewatchError } from '../../schemas/errors.ts';

/**
 * The generated dashboards, read as files. Only what the server needs has a shape here; the rest is passed on
 * to the page as it is.
 */

const targetSchema = z.looseObject({
  refId: z.string().default('A'),
  rawSql: z.string().optional(),
  format: z.number().int().default(1),
  hide: z.boolean().default(false),
});

const panelSchema = z.looseObject({
  id: z.number().int(),
  type: z.string(),
  interval: z.string().optional(),
  gridPos: z.looseObject({ y: z.number().default(0) }).default({ y: 0 }),
  targets: z.array(targetSchema).optional(),
});

const variableSchema = z.looseObject({
  type: z.string(),
  name: z.string().regex(/^\w+$/),
  query: z.unknown(),
  options: z.array(z.looseObject({ value: z.union([z.string(), z.array(z.string())]) })).default([]),
});

const annotationSchema = z.looseObject({
  name: z.string(),
  enable: z.boolean().default(true),
  iconColor: z.string().default('blue'),
  target: z.looseObject({ rawSql: z.string().optional() }).optional(),
});

const dashboardSchema = z.looseObject({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string(),
  description: z.string().default(''),
  tags: z.array(z.string()).default([]),
  panels: z
    .array(z.looseObject({ ...panelSchema.shape, panels: z.array(panelSchema).optional() }))
    .default([]),
  templating: z.looseObject({ list: z.array(variableSchema).default([]) }).default({ list: [] }),
  annotations: z.looseObject({ list: z.array(annotationSchema).default([]) }).default({ list: [] }),
});

export type DashboardFile = z.infer<typeof dashboardSchema>;
export type PanelModel = z.infer<typeof panelSchema>;
export type VariableModel = z.infer<typeof variableSchema>;

/**
 * Every dashboard of a folder, by uid, in the order of the files' names.
 * @throws GatewatchError `config_invalid` when the folder cannot be read or a file is no dashboard
 */
export function readDashboards(folder: string): ReadonlyMap<string, DashboardFile> {
  const names = attempt(`cannot read the folder of dashboards ${folder}`, () => readdirSync(folder));
  const boards = names
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const json: unknown = attempt(`${path} is not JSON`, () => JSON.parse(readFileSync(path, 'utf8')));
      const parsed = dashboardSchema.safeParse(json);
      if (!parsed.success)
        throw invalid(`${path} is not a dashboard:\n${z.prettifyError(parsed.error)}`, parsed.error);
      return parsed.data;
    });
  return new Map(boards.map((board) => [board.uid, board]));
}

/** A panel by its id, also one within a collapsed row. */
export function findPanel(board: DashboardFile, id: number): PanelModel | null {
  for (const panel of board.panels) {
    if (panel.id === id) return panel;
    const inner = panel.panels?.find((one) => one.id === id);
    if (inner !== undefined) return inner;
  }
  return null;
}

/**
 * SQL of a variable: Grafana writes an object, older versions a text. Null for a variable without a query.
 */
export function variableSql(variable: VariableModel): string | null {
  if (variable.type !== 'query') return null;
  if (typeof variable.query === 'string') return variable.query;
  const sql = (variable.query as { rawSql?: unknown } | null)?.rawSql;
  return typeof sql === 'string' ? sql : null;
}

/** The dashboard without its SQL, which is the server's. */
export function withoutSql(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSql);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'rawSql' && key !== 'definition');
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutSql(inner)]));
}

function attempt<T>(problem: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw invalid(problem, cause);
  }
}

const invalid = (message: string, cause: unknown): GatewatchError =>
  new GatewatchError(message, { code: 'config_invalid', cause });

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { GatewatchError } from '../../../schemas/errors.ts';

/**
 * Reads Grafana-managed rules from file-provisioning YAML: we evaluate the generated files, as Grafana does,
 * not their source. Only what evaluation needs is read; expressions that we cannot evaluate are refused.
 */

const evaluatorSchema = z.object({
  type: z.enum(['gt', 'lt', 'gte', 'lte', 'eq', 'ne', 'within_range', 'outside_range']),
  params: z.array(z.number()).min(1),
});

const modelSchema = z.union([
  // A time series or a table.
  z.object({
    rawSql: z.string().min(1),
    format: z.literal([0, 1]),
    intervalMs: z.number().default(1000),
  }),
  z.object({
    type: z.literal('reduce'),
    expression: z.string().min(1),
    reducer: z.enum(['last', 'min', 'max', 'sum']),
    settings: z.object({ mode: z.literal('dropNN') }),
  }),
  z.object({ type: z.literal('math'), expression: z.string().min(1) }),
  z.object({
    type: z.literal('threshold'),
    expression: z.string().min(1),
    conditions: z.array(z.object({ evaluator: evaluatorSchema })).length(1),
  }),
]);

const nodeSchema = z.object({
  refId: z.string().min(1),
  /** Seconds before the evaluation instant. */
  relativeTimeRange: z.object({ from: z.number().int(), to: z.number().int() }).default({ from: 0, to: 0 }),
  model: modelSchema,
});

const ruleSchema = z.object({
  uid: z.string().min(1),
  title: z.string().min(1),
  condition: z.string().min(1),
  data: z.array(nodeSchema).min(1),
  for: z.string(),
  keepFiringFor: z.string().default('0s'),
  noDataState: z.enum(['NoData', 'OK', 'Alerting', 'KeepLast']),
  execErrState: z.enum(['Error', 'OK', 'Alerting', 'KeepLast']),
  missing_series_evals_to_resolve: z.number().int().default(2),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  isPaused: z.boolean().default(false),
  /** Where the rule's quantity is drawn. */
  dashboardUid: z.string().optional(),
  panelId: z.number().int().optional(),
});

const fileSchema = z.object({
  apiVersion: z.literal(1),
  groups: z
    .array(z.object({ name: z.string(), interval: z.string(), rules: z.array(ruleSchema) }))
    .default([]),
});

export type Reducer = Extract<z.infer<typeof modelSchema>, { type: 'reduce' }>['reducer'];
export type EvaluatorModel = z.infer<typeof evaluatorSchema>;
export type RuleNode = z.infer<typeof nodeSchema>;
/** A rule as its file says, with the group's name and interval. */
export type ProvisionedRule = z.infer<typeof ruleSchema> & {
  readonly group: string;
  readonly interval: string;
};

/**
 * Every rule in the `*.yaml` files of a folder, in file order.
 * @throws GatewatchError `config_invalid` when the folder cannot be read, a file is not a rule file, or there
 * is no rule.
 */
export function loadRules(dir: string): ProvisionedRule[] {
  const rules = filesIn(dir).flatMap((path) => {
    const file = fileSchema.safeParse(read(path));
    if (!file.success)
      throw invalid(
        `${path} is not a rule file we can evaluate:\n${z.prettifyError(file.error)}`,
        file.error,
      );
    return file.data.groups.flatMap((group) =>
      group.rules.map((rule) => ({ ...rule, group: group.name, interval: group.interval })),
    );
  });
  if (rules.length === 0) throw invalid(`no alert rule found in ${dir}; "npm run generate" writes them`);
  return rules;
}

function filesIn(dir: string): string[] {
  try {
    const names = readdirSync(dir).filter((name) => /\.ya?ml$/.test(name));
    return names.toSorted().map((name) => join(dir, name));
  } catch (cause) {
    throw invalid(`cannot read the folder of alert rules ${dir}`, cause);
  }
}

function read(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw invalid(`${path} is not YAML`, cause);
  }
}

const invalid = (message: string, cause?: unknown): GatewatchError =>
  new GatewatchError(message, { code: 'config_invalid', cause });

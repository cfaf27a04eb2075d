import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/**
 * Reads Grafana-managed rules from file-provisioning YAML: we evaluate the generated files, as Grafana does,
 * not their source. Only what evaluation needs is read; expressions that we cannot evaluate are refused.
 */

const evaluatorSchema = z.object({ type: z.literal('gt'), params: z.tuple([z.number()]) });

const modelSchema = z.union([
  // A table.
  z.object({ rawSql: z.string().min(1), format: z.literal(1), intervalMs: z.number().default(1000) }),
  z.object({ type: z.literal('math'), expression: z.string().min(1) }),
  z.object({
    type: z.literal('threshold'),
    expression: z.string().min(1),
    conditions: z.tuple([z.object({ evaluator: evaluatorSchema })]),
  }),
]);

const nodeSchema = z.object({
  refId: z.string().min(1),
  /** Seconds before the evaluation instant. */
  relativeTimeRange: z.object({ from: z.number().int(), to: z.number().int() }).default({ from: 0, to: 0 }),
  model: modelSchema,
});

const ruleSchema = z.object({
  title: z.string().min(1),
  condition: z.string().min(1),
  data: z.array(nodeSchema).min(1),
  noDataState: z.enum(['NoData', 'OK', 'Alerting', 'KeepLast']),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});

const fileSchema = z.object({
  apiVersion: z.literal(1),
  groups: z.array(z.object({ rules: z.array(ruleSchema) })).default([]),
});

export type RuleNode = z.infer<typeof nodeSchema>;
export type ProvisionedRule = z.infer<typeof ruleSchema>;

/**
 * Every rule in the `*.yaml` files of a folder, in file order.
 * @throws when the folder cannot be read, or a file is not a rule file.
 */
export const loadRules = (dir: string): ProvisionedRule[] =>
  readdirSync(dir)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .flatMap((name) => fileSchema.parse(parse(readFileSync(join(dir, name), 'utf8'))).groups)
    .flatMap(({ rules }) => rules);

import { Ajv, type ErrorObject } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { z } from 'zod';

/**
 * Checks of Grafana's shapes without Grafana: JSON schemas made from the types of the SDK that is installed,
 * so that they can never lag behind it, and strict schemas of file provisioning, whose fields are not the
 * SDK's.
 */

type Check = (value: unknown) => string[];

/** A check against one type of the SDK, e.g. `sdkCheck('dashboard', 'Dashboard')`. Takes seconds to make. */
export function sdkCheck(module: string, type: string): Check {
  const schema = createGenerator({
    path: `node_modules/@grafana/grafana-foundation-sdk/dist/${module}/types.gen.d.ts`,
    type,
    skipTypeCheck: true,
    functions: 'hide',
    additionalProperties: false,
  }).createSchema(type);
  dropMarker(schema);
  for (const [name, definition] of Object.entries(schema.definitions ?? {}))
    if (/Dataquery$/i.test(name) && typeof definition === 'object' && definition.type === 'object')
      definition.additionalProperties = true;
  const validate = new Ajv({ strict: false, allErrors: true }).compile({ ...schema } as object);
  return (value) => (validate(value) ? [] : (validate.errors ?? []).map(describe));
}

const describe = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath} ${message} ${JSON.stringify(params)}`;

/** A method that the SDK's interface asks for and that JSON never has. */
function dropMarker(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('required' in node && Array.isArray(node.required))
    node.required = node.required.filter((name) => name !== '_implementsDataqueryVariant');
  for (const value of Object.values(node)) dropMarker(value);
}

const uid = z.string().regex(/^[a-zA-Z0-9_-]{1,40}$/);
const duration = z.string().regex(/^\d+(ms|s|m|h|d|w)$/);
/** Provisioning replaces `$NAME` in most strings by the environment. */
const withoutDollar = z.string().regex(/^[^$]*$/, 'must not contain "$"');

const query = z.strictObject({
  refId: z.string().regex(/^[A-Za-z_]\w*$/),
  datasourceUid: z.string(),
  relativeTimeRange: z.strictObject({ from: z.int().min(0), to: z.int().min(0) }).optional(),
  model: z.looseObject({ refId: z.string() }),
});

/** Alert rules as Grafana's file provisioning reads them. */
export const ruleFileSchema = z.strictObject({
  apiVersion: z.literal(1),
  groups: z
    .array(
      z.strictObject({
        orgId: z.literal(1),
        name: withoutDollar,
        folder: withoutDollar,
        interval: duration,
        rules: z
          .array(
            z.strictObject({
              uid,
              title: withoutDollar,
              condition: z.string(),
              data: z.array(query).min(2),
              dashboardUid: uid,
              panelId: z.int().positive(),
              noDataState: z.enum(['NoData', 'OK', 'Alerting', 'KeepLast']),
              execErrState: z.enum(['Error', 'OK', 'Alerting', 'KeepLast']),
              for: duration,
              keepFiringFor: duration,
              missing_series_evals_to_resolve: z.int().positive(),
              labels: z.record(z.string().regex(/^[a-z_]\w*$/), withoutDollar),
              annotations: z.record(z.string(), withoutDollar),
              isPaused: z.literal(false),
            }),
          )
          .min(1),
      }),
    )
    .min(1),
});

export const dashboardProviderSchema = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.array(
    z.strictObject({
      name: z.string(),
      orgId: z.literal(1),
      folder: z.string(),
      folderUid: uid,
      type: z.literal('file'),
      disableDeletion: z.boolean(),
      allowUiUpdates: z.literal(false),
      updateIntervalSeconds: z.int().positive(),
      options: z.strictObject({
        path: z.string().startsWith('/'),
        foldersFromFilesStructure: z.boolean(),
      }),
    }),
  ),
});

export const datasourceSchema = z.strictObject({
  apiVersion: z.literal(1),
  prune: z.boolean(),
  datasources: z.array(
    z.strictObject({
      name: z.string(),
      uid,
      type: z.literal('grafana-clickhouse-datasource'),
      access: z.literal('proxy'),
      editable: z.literal(false),
      jsonData: z.strictObject({
        host: z.string(),
        port: z.string(),
        protocol: z.enum(['http', 'native']),
        secure: z.boolean(),
        username: z.string(),
        defaultDatabase: z.string(),
        traces: z.strictObject({
          defaultDatabase: z.string(),
          defaultTable: z.string(),
          otelEnabled: z.boolean(),
          otelVersion: z.string(),
        }),
        dialTimeout: z.string().regex(/^\d+$/),
        queryTimeout: z.string().regex(/^\d+$/),
      }),
      /** Never a secret itself: a name in the environment. */
      secureJsonData: z.strictObject({ password: z.string().regex(/^\$[A-Z_]+$/) }),
    }),
  ),
});

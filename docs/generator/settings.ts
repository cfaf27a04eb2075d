import { z } from 'zod';
import { configSchema } from '../../schemas/config.ts';
import { Secret } from '../../schemas/secret.ts';

/** One key of the configuration file. */
export interface Setting {
  /** e.g. `gateways[].poll.deadlineMs`; `[]` is an item of a list. */
  readonly path: string;
  /** `text`, `number`, `whole number`, `true or false`, `list of text`, `group`, ... */
  readonly kind: string;
  readonly required: boolean;
  /** JSON of the default; undefined when there is none. */
  readonly fallback: string | undefined;
}

interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'group',
};

/** The required settings alone: what parsing adds to them are the defaults. */
const SMALLEST = configSchema.parse({
  gateways: [{ name: 'a', secureUrl: 'http://a', token: 'a' }],
  kafka: { brokers: ['a:1'] },
  clickhouse: { url: 'http://a' },
  http: { intake: { port: 1 } },
});

/** Every key of the configuration, in the order of the schema. */
export function settings(): Setting[] {
  const root = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Node;
  return below(root, '');
}

function below(node: Node, prefix: string): Setting[] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    const required = (node.required ?? []).includes(key);
    const fallback = required || child.properties !== undefined ? undefined : fallbackOf(path);
    const setting = { path, kind: kindOf(child), required, fallback };
    return [setting].concat(inside(child, path));
  });
}

function inside(node: Node, path: string): Setting[] {
  if (node.items !== undefined) return inside(node.items, `${path}[]`);
  const groups = node.anyOf ?? [node];
  return groups.flatMap((group) => below(group, path));
}

function kindOf(node: Node): string {
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(kindOf))].join(' or ');
  if (node.type === 'array') return `list of ${kindOf(node.items ?? {})}`;
  return KINDS[node.type ?? ''] ?? 'anything';
}

function fallbackOf(path: string): string | undefined {
  let value: unknown = SMALLEST;
  for (const key of path.replaceAll('[]', '.0').split('.')) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
  }
  return JSON.stringify(value instanceof Secret ? value.reveal() : value);
}

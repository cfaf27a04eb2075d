import type { z } from 'zod';
import { expectation } from '../../schemas/problem.ts';
import { describe } from '../../schemas/redact.ts';
import { variableOf } from './environment.ts';
import type { Findings } from './substitute.ts';

/** Keys whose values must not be repeated in an error. */
const SECRET_KEY = /token|key|password|secret|sasl|ssl|clientOptions/i;

/** One sentence for each problem that an issue of the schema stands for: key, expected, received, origin. */
export function explain(issue: z.core.$ZodIssue, raw: unknown, findings: Findings): string[] {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path === '' ? key : `${path}.${key}`}: no such setting`);
  }
  if (findings.unusable.has(path)) return [];
  // A value of the right kind for one branch is explained by that branch alone.
  const meant = issue.code === 'invalid_union' ? issue.errors.find(isInside) : undefined;
  if (meant !== undefined) {
    return meant.flatMap((inner) =>
      explain({ ...inner, path: [...issue.path, ...inner.path] }, raw, findings),
    );
  }
  const origin = findings.origins.get(path) ?? findings.origins.get(path.replace(/\.\d+$/, ''));
  const value = valueAt(raw, issue.path);
  const variable = value === undefined && !hasSeveralGateways(raw) ? variableOf(path) : undefined;
  const from = origin === undefined ? '' : ` (from ${origin})`;
  const hint = variable === undefined ? '' : `; set it in the file, or ${variable}`;
  return [`${path}: expected ${expected(issue)}, received ${received(path, value)}${from}${hint}`];
}

/** Then the variables of the one gateway are not read. */
function hasSeveralGateways(raw: unknown): boolean {
  const gateways = valueAt(raw, ['gateways']);
  return Array.isArray(gateways) && gateways.length > 1;
}

function isInside(branch: readonly z.core.$ZodIssue[]): boolean {
  return branch.every((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys');
}

/** The value at an issue's path, or undefined. */
export function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return value;
}

function received(path: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return describe(value);
  if (SECRET_KEY.test(path)) return '[secret]';
  // An address may carry a user and a password before the @.
  return describe(typeof value === 'string' ? value.replace(/[^\s/]*@/g, '[secret]@') : value);
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
};

function expected(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? expectation(issue);
  if (issue.code === 'invalid_union') {
    const kinds = new Set(issue.errors.flatMap((branch) => branch.slice(0, 1).map(expected)));
    return [...kinds].join(', or ');
  }
  return expectation(issue);
}

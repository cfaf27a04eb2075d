import type { z } from 'zod';
import { received } from './shape.ts';

/** Why a piece of input was refused: the field, what came (by its look) and what was expected. */
export interface Problem {
  readonly field: string;
  readonly received: string;
  readonly expected: string;
}

/**
 * The first problem of a failed zod parse. `input` is only read at the path of a field that the schema names.
 */
export function firstProblem(error: z.ZodError, input: unknown): Problem {
  const issue = error.issues[0];
  if (issue === undefined) return { field: '', received: 'nothing', expected: 'a valid value' };
  const field = issue.path.map(String).join('.') || 'body';
  return { field, received: received(valueAt(input, issue.path)), expected: expectation(issue) };
}

export function problemText(problem: Problem): string {
  return `${problem.field}: expected ${problem.expected}, received ${problem.received}`;
}

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'an array',
  int: 'a whole number',
};

/** What the schema wanted, in words. */
export function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? `a ${issue.expected}`;
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `at most ${String(issue.maximum)}${UNITS[issue.origin] ?? ''}`;
    default:
      return issue.message;
  }
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

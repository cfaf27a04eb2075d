import { z } from 'zod';

/** What the page may ask for. Ids, times and chosen values: nothing else reaches a statement. */

const MAX_RANGE_MS = 5 * 366 * 86_400_000;

const scope = {
  dashboard: z.string().regex(/^[\w-]{1,40}$/),
  from: z.int().min(0).max(8.64e15),
  to: z.int().min(0).max(8.64e15),
  variables: z.record(z.string().regex(/^\w{1,64}$/), z.array(z.string().max(300)).max(500)).default({}),
};
const inOrder = ({ from, to }: { from: number; to: number }): boolean =>
  from < to && to - from <= MAX_RANGE_MS;
const wrongRange = {
  message: 'the range must begin before its end and last five years at most',
  path: ['from'],
};

export const scopeSchema = z.strictObject(scope).refine(inOrder, wrongRange);
export const panelRequestSchema = z
  .strictObject({
    ...scope,
    panel: z.int().min(0),
    maxDataPoints: z.int().min(1).max(10_000).default(500),
  })
  .refine(inOrder, wrongRange);

import { z } from 'zod';
import { OUTCOMES } from './dictionary.ts';

/** Which traces are exported. Everything is stored and shown whatever is said here. */
export const samplingSchema = z.strictObject({
  /** Share of those orders that nothing below keeps, by trace id. 1 exports all. @default 1 */
  share: z.number().min(0).max(1).default(1),
  /** Orders with these outcomes are kept. @default all but `succeeded` */
  keepOutcomes: z.array(z.enum(OUTCOMES)).default(OUTCOMES.filter((outcome) => outcome !== 'succeeded')),
  /** Orders are kept that took more seconds than this from their first item to their last. @default none */
  slowerThanS: z.number().positive().optional(),
  /** Orders with a finding are kept. @default true */
  keepFindings: z.boolean().default(true),
});
export type SamplingConfig = z.output<typeof samplingSchema>;

export const tracesConfigSchema = z.strictObject({ sampling: samplingSchema.prefault({}) });

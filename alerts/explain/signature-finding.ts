import { sqlText, view } from '../../schemas/measures.ts';
import { causeInWords, causeStep, isSignatureCause } from '../../schemas/signature-causes.ts';
import type { EvaluationNumbers } from '../evaluate/instance.ts';
import type { Rule } from '../rules/rule.ts';

/** What would make most callbacks verify that do not. */
export interface SignatureFinding {
  /** A name of SIGNATURE_CAUSES. */
  readonly cause: string;
  /** Distinct callbacks with it. */
  readonly callbacks: number;
  /** Distinct callbacks of the window that were examined. */
  readonly of: number;
}

type Query = <T>(sql: string) => Promise<T[]>;

/** Null for a rule that is not about signatures, and where nothing was examined. */
export async function readMainCause(
  query: Query,
  rule: Rule,
  { gateway, window_from: from, window_to: to }: EvaluationNumbers,
): Promise<SignatureFinding | null> {
  if (!isAboutSignatures(rule)) return null;
  const within = (time: string): string =>
    `${time} >= fromUnixTimestamp64Micro(toInt64(${from})) AND ${time} < fromUnixTimestamp64Micro(toInt64(${to}))`;
  const rows = await query<{
    cause: string;
    callbacks: number;
  }>(`SELECT signature_cause AS cause, count() AS callbacks
FROM ${view('callbackVerdicts')}
WHERE content_key IN (SELECT content_key FROM ${view('callbackArrivals')} WHERE ${within('received_at')}) AND ${within('first_received_at')}
  AND gateway = ${sqlText(gateway)} AND verdict = 'mismatch' AND signature_cause != 'not_examined'
GROUP BY cause ORDER BY callbacks DESC, cause`);
  const [first] = rows;
  if (first === undefined) return null;
  return { ...first, of: rows.reduce((sum, { callbacks }) => sum + callbacks, 0) };
}

const isAboutSignatures = (rule: Rule): boolean =>
  rule.kind === 'share' &&
  rule.count.from.kind === 'callbacks' &&
  rule.count.counts.some(({ hit }) => hit.includes("'mismatch'"));

/** `81 of 84 callbacks ...: It verifies when the amount is written with two decimals. Inform ...` */
export function findingText({ cause, callbacks, of }: SignatureFinding): string {
  const words = isSignatureCause(cause) ? `${causeInWords(cause)}. ${causeStep(cause)}` : cause;
  return `${callbacks} of ${of} callbacks whose signature does not match: ${words}`;
}

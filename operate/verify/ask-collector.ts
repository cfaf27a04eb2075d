import { cascadeAnswerSchema, type CascadeResult } from '../../schemas/cascade-safety.ts';
import { GatewatchError } from '../../schemas/errors.ts';
import { askCollector, problemDetail } from '../collector-client.ts';
import type { OrderToVerify } from './verify-orders.ts';

/** What a collector needs on top of its deadline to answer. */
const GRACE_MS = 2_000;

/**
 * The running collector's answer; undefined when none answers, or it is not ready, or too old to know the
 * question.
 */
export async function askCascadeSafety(
  base: string,
  { id, gateway, type, by }: OrderToVerify,
  deadlineMs: number,
): Promise<CascadeResult | undefined> {
  const given = Object.entries({ gateway, type, by }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given as [string, string][]).toString();
  const path = `/orders/${encodeURIComponent(id)}/cascade-safety?${query}`;
  const reply = await askCollector(base, path, undefined, deadlineMs + GRACE_MS);
  if (reply === null || reply.status === 503 || reply.status === 404) return undefined;
  if (reply.status === 400 || reply.status === 409)
    return { ok: false, conflict: reply.status === 409, detail: problemDetail(reply) };
  const parsed = reply.status === 200 ? cascadeAnswerSchema.safeParse(reply.body) : null;
  if (parsed?.success === true) return { ok: true, answer: parsed.data };
  throw new GatewatchError(`The collector at ${base} does not answer as expected: ${problemDetail(reply)}`, {
    code: 'internal',
  });
}

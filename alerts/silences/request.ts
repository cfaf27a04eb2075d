import type { EpochMicros, Rows } from '../../schemas/rows.ts';
import { type Problem, firstProblem } from '../../schemas/problem.ts';
import { describe } from '../../schemas/redact.ts';
import { type Silence, type SilenceRequest, silenceRequestSchema } from '../../schemas/silence.ts';
import { RULES } from '../rules/all.ts';

/** Alerts that can cost more than orders are never held back for longer. */
const MOST_WITH_RISK_MS = 86_400_000;

export type CheckedRequest =
  { readonly ok: true; readonly request: SilenceRequest } | { readonly ok: false; readonly problem: Problem };

/**
 * Reads what somebody asks for.
 *
 * @param gateways those that exist
 */
export function checkSilenceRequest(input: unknown, gateways: readonly string[]): CheckedRequest {
  const parsed = silenceRequestSchema.safeParse(input);
  if (!parsed.success) return { ok: false, problem: firstProblem(parsed.error, input) };
  const request = parsed.data;
  const refuse = (field: keyof typeof fields, expected: string): CheckedRequest => ({
    ok: false,
    problem: { field, received: describe(fields[field]), expected },
  });
  const fields = {
    gateway: request.gateway,
    label: request.label,
    for: (input as { readonly for?: unknown }).for,
  };
  if (request.gateway !== '' && !gateways.includes(request.gateway))
    return refuse('gateway', `one of ${gateways.join(', ') || 'no gateway yet'}, or nothing for any`);
  if (request.label !== '' && request.rule === '') return refuse('label', 'no label where any rule is meant');
  if (request.kind === 'silenced' && request.for > MOST_WITH_RISK_MS && hasRisk(request.rule))
    return refuse('for', '24h at most, since security or money is at risk');
  return { ok: true, request };
}

/** Any rule is one of these, too. */
const hasRisk = (rule: string): boolean =>
  RULES.some(({ name, risk }) => risk !== undefined && (rule === '' || rule === name));

/** The silence that a request asks for, from now on. */
export function silenceOfRequest(request: SilenceRequest, id: string, nowMs: number): Silence {
  const { kind, rule, gateway, slice, label, reason, by } = request;
  const until = request.kind === 'silenced' ? nowMs + request.for : null;
  return { id, kind, rule, gateway, slice, label, createdAt: nowMs, until, reason, by };
}

/** @param endedAtMs when it was taken back */
export function silenceRow(
  silence: Silence,
  nowMs: number,
  endedAtMs: number | null = null,
): Rows['alertSilences'] {
  const { id, kind, rule, gateway, slice, label, createdAt, until, reason, by } = silence;
  return {
    silence_id: id,
    kind,
    rule,
    gateway,
    slice,
    label,
    created_at: micros(createdAt),
    until: until === null ? null : micros(until),
    reason,
    created_by: by,
    ended_at: endedAtMs === null ? null : micros(endedAtMs),
    changed_at: micros(nowMs),
  };
}

const micros = (ms: number): EpochMicros => Math.round(ms * 1000);

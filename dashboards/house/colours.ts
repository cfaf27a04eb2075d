import type { FindingKind } from '../../schemas/findings.ts';
import { type Outcome, type ReasonGroup, REASONS, type Stage, type State } from '../../schemas/dictionary.ts';
import type { PollOutcome, Verdict } from '../../schemas/rows.ts';

/**
 * One colour per meaning, the same on every panel. Names are of Grafana's palette, so that both themes suit
 * them.
 */
export const REASON_GROUP_COLOURS: Readonly<Record<ReasonGroup, string>> = {
  NONE: '#8e8e8e',
  TECH: 'red',
  AUTHZ: 'purple',
  BUSINESS: 'orange',
  RISK: 'dark-red',
  USER: 'blue',
  ISSUER: 'yellow',
};

/** Distinguished within a group, and still of its colour. */
const SHADES = ['', 'light-', 'semi-dark-', 'super-light-'] as const;

/** By code: the colour of the reason's group, in a shade of its own. */
export const REASON_COLOURS: ReadonlyMap<number, string> = new Map(
  REASONS.map(({ code, group }) => {
    const rank = REASONS.filter((other) => other.group === group).findIndex((other) => other.code === code);
    const colour = REASON_GROUP_COLOURS[group];
    const shade = colour.startsWith('#') || colour.includes('-') ? '' : (SHADES[rank % SHADES.length] ?? '');
    return [code, `${shade}${colour}`];
  }),
);

export const VERDICT_COLOURS: Readonly<Record<Verdict, string>> = {
  valid: 'green',
  valid_previous_key: 'light-green',
  mismatch: 'red',
  missing_signature: 'orange',
  malformed: 'purple',
};

export const GOOD = 'green';
export const WARN = 'orange';
export const BAD = 'red';
/** For what is context, not judgement: counts beside shares. */
export const QUIET = '#8e8e8e';

export const OUTCOME_COLOURS: Readonly<Record<Outcome | 'pending', string>> = {
  succeeded: 'green',
  technical_failure: 'red',
  business_failure: 'orange',
  risk_decline: 'dark-red',
  user_abandoned: 'blue',
  issuer_decline: 'yellow',
  unspecified_failure: '#8e8e8e',
  pending: 'light-blue',
};

export const STATE_COLOURS: Readonly<Record<State, string>> = {
  INIT: '#8e8e8e',
  CREATED: 'light-blue',
  PROCESSING: 'blue',
  SUCCESS: 'green',
  FAILED: 'red',
};

export const STAGE_COLOURS: Readonly<Record<Stage, string>> = {
  INTERNAL: '#8e8e8e',
  GATEWAY_CREATE: 'orange',
  PAYFORM: 'blue',
  CHECK: 'purple',
  GATEWAY_CALLBACK: 'dark-green',
  MERCHANT_CALLBACK: 'light-green',
};

export const POLL_OUTCOME_COLOURS: Readonly<Record<PollOutcome, string>> = {
  ok: 'green',
  not_found: '#8e8e8e',
  unauthorized: 'purple',
  forbidden: 'dark-purple',
  locked: 'light-orange',
  rate_limited: 'yellow',
  client_error: 'orange',
  unknown: 'red',
  invalid_response: 'dark-red',
};

export const FINDING_COLOURS: Readonly<Record<FindingKind, string>> = {
  CALLBACK_MISSING: 'orange',
  CALLBACK_WITHOUT_HISTORY: 'light-orange',
  CALLBACK_FOR_UNKNOWN_ORDER: 'dark-orange',
  STATUS_DISAGREES: 'red',
  AMOUNT_DISAGREES: 'dark-red',
  CURRENCY_DISAGREES: 'light-red',
  HISTORY_REWRITTEN: 'purple',
  SUCCESS_AFTER_FAILED: 'dark-purple',
  STUCK_PROCESSING: 'blue',
  SIGNATURE_CONFLICT: 'yellow',
  REPLAYED: 'dark-yellow',
  FIRST_SEEN_TRANSITION: '#8e8e8e',
};

import { z } from 'zod';
import { readDurationMs } from './duration.ts';
import { maskCards } from './redact.ts';
import { readRuleName } from './rule-name.ts';

export const SILENCE_KINDS = ['acknowledged', 'silenced'] as const;
export type SilenceKind = (typeof SILENCE_KINDS)[number];

/**
 * Which alerts somebody wants to hear no more of, and why. An empty matcher matches any alert. Instants are
 * epoch milliseconds.
 */
export interface Silence {
  readonly id: string;
  /**
   * `acknowledged`: of the alerts that fired at `createdAt`, repeats. `silenced`: every notification until
   * `until`.
   */
  readonly kind: SilenceKind;
  readonly rule: string;
  readonly gateway: string;
  readonly slice: string;
  readonly label: string;
  readonly createdAt: number;
  /** Null: until the alert ends, or until it is taken back. */
  readonly until: number | null;
  readonly reason: string;
  readonly by: string;
}

/**
 * Letters, digits, marks and blanks of any script in one line; a joiner, since some emoji are made of
 * several.
 */
const LINE = /^(?:[^\p{C}\p{Zl}\p{Zp}]|\u{200d})*$/u;
const line = (min: number, max: number) =>
  z.string().trim().min(min).max(max).regex(LINE, 'printable text in one line').transform(maskCards);

/** Rules that any alert matches. */
export const ANY_RULE = 'all';
/** A longer silence is a rule that should be switched off. */
const MOST_MS = 30 * 86_400_000;

const matchers = {
  rule: z.string().transform((text, context) => {
    const name = text === ANY_RULE ? '' : readRuleName(text);
    if (name !== null) return name;
    context.addIssue({ code: 'custom', message: `the name of a rule, or ${ANY_RULE}` });
    return z.NEVER;
  }),
  gateway: z.string().max(64).default(''),
  slice: line(0, 200).default(''),
  label: line(0, 100).default(''),
};
const why = {
  reason: line(1, 500),
  by: line(0, 100).default(''),
};

/** What people ask for: the body of `POST /console/api/silences`, and the options of the commands. */
export const silenceRequestSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('silenced'),
    ...matchers,
    ...why,
    /** For how long from now: `90m`, `2h`. */
    for: z.string().transform((text, context) => {
      const ms = readDurationMs(text);
      if (ms !== null && ms > 0 && ms <= MOST_MS) return ms;
      context.addIssue({ code: 'custom', message: 'a duration up to 30d, such as 90m or 2h' });
      return z.NEVER;
    }),
  }),
  z.strictObject({ kind: z.literal('acknowledged'), ...matchers, ...why }),
]);
export type SilenceRequest = z.output<typeof silenceRequestSchema>;

import { withDeadline } from '../../schemas/deadline.ts';
/** One answer of the doctor. */
export interface Finding {
  /** What was looked at, e.g. `gateway acme-eu: token`. */
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** A sentence. Never holds a secret. */
  readonly message: string;
  /** What to do about it; empty when there is nothing to do. */
  readonly advice: string;
}

export interface Check {
  /** Said when the check itself does not come to an end. */
  readonly name: string;
  /** What is wrong is a finding; an error thrown is a finding too. */
  run(signal: AbortSignal): Promise<readonly Finding[]>;
}

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message, advice: '' });

export const warn = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'warn',
  message,
  advice,
});

export const fail = (check: string, message: string, advice: string): Finding => ({
  check,
  status: 'fail',
  message,
  advice,
});

/**
 * Runs all checks at once. What has no answer by the deadline has failed. Findings come in the order of the
 * checks.
 */
export async function runChecks(checks: readonly Check[], deadlineMs: number): Promise<Finding[]> {
  const results = await Promise.all(checks.map((check) => runCheck(check, deadlineMs)));
  return results.flat();
}

async function runCheck(check: Check, deadlineMs: number): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(deadlineMs);
  const tooLate = fail(
    check.name,
    `No answer within ${deadlineMs / 1000} s.`,
    'Look for a firewall or an overloaded host.',
  );
  try {
    // The deadline's own timer keeps the process alive until then, which the signal's does not.
    return await withDeadline(check.run(signal), deadlineMs + 50, () => [tooLate], signal);
  } catch (error) {
    if (signal.aborted) return [tooLate];
    return [fail(check.name, error instanceof Error ? error.message : String(error), '')];
  }
}

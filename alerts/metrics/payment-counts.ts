import type { EpochMicros } from '../../schemas/rows.ts';
import { JOBS } from '../../schemas/names.ts';
import { doneByTime, noteDoneByTime } from '../../store/job-progress.ts';
import { findTouched, type CountScope, oldOf, type TouchedRow } from './count-scope.ts';
import { countOrders } from './order-counts.ts';
import { countCallbacks, countFindings } from './other-counts.ts';
import { makeSumsDue, type Tools } from './totals.ts';

/** Counts orders, callbacks and findings for the payment metrics, each once. */
export interface PaymentCounts {
  /**
   * Counts what was stored since the last time, whoever counted then; a quarter of an hour of it at most.
   * True: there is more.
   *
   * @param now the wall clock
   */
  readonly pass: (now: EpochMicros) => Promise<boolean>;
}

const SECOND: EpochMicros = 1_000_000;
const MINUTE = 60 * SECOND;
/** Rows are stored this long after they were observed at most, and now and then it is looked further back. */
const OVERLAP = 120 * SECOND;
const LONG_OVERLAP = 3_600 * SECOND;
const LONG_EVERY_MINUTES = 10;
/** One step. */
const STEP = 900 * SECOND;
/** How far back the first pass of a store looks. */
const FIRST = 3_600 * SECOND;
/** After a longer rest, what lies between is history and no news. */
const LONGEST = 86_400 * SECOND;

export function createPaymentCounts({ query, command }: Tools): PaymentCounts {
  return {
    async pass(now) {
      const done = await doneByTime(query, JOBS.payments);
      const step = nextStep(done.get('') ?? 0, now);
      const scope = { ...step, now };
      const [found] = await query<TouchedRow>(findTouched(scope));
      if (found === undefined) throw new Error('no answer to what is to be counted');
      if (found.touched > 0) await command(countOrders({ ...scope, old: oldOf(found) }));
      if (found.callbacks > 0) await command(countCallbacks(scope));
      if (found.findings > 0) await command(countFindings(scope));
      await command(noteDoneByTime(JOBS.payments, '', step.to ?? now));
      await makeSumsDue(now, { query, command });
      return step.to !== null;
    },
  };
}

/** What is counted next, after it was counted up to an instant; 0: never. */
export function nextStep(knownTo: EpochMicros, now: EpochMicros): Pick<CountScope, 'from' | 'to'> {
  const done = Math.max(knownTo === 0 ? now - FIRST : knownTo, now - LONGEST);
  const isLong = Math.floor(now / MINUTE) % LONG_EVERY_MINUTES === 0;
  return {
    from: done - (isLong ? LONG_OVERLAP : OVERLAP),
    to: now - done > STEP ? done + STEP : null,
  };
}

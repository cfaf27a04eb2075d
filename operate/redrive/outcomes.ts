import { placeText, type OpenReject } from './open-rejects.ts';

/** What became of an open reject. */
export type Outcome =
  /** Its record went in. */
  | 'stored'
  /** A later reply about its order had no such fault. */
  | 'readAgain'
  /** It would be rejected again: the fault is still there. */
  | 'stillRejected'
  /** Its order has been asked for and not been read without fault yet. */
  | 'waiting'
  /** Its record is no longer in Kafka. */
  | 'gone'
  /** It cannot be tried again, e.g. its topic is not configured. */
  | 'noWay';

/** How many open rejects had each outcome. */
export interface RedriveReport extends Readonly<Record<Outcome, number>> {
  readonly found: number;
  /** The first ones that stay, with why. */
  readonly left: readonly string[];
  /**
   * Why the running collector does not read orders for us, e.g. since it has not been restarted; else
   * null.
   */
  readonly refusal: string | null;
}

const SHOWN = 20;

const WHY: Readonly<Record<Exclude<Outcome, 'stored' | 'readAgain'>, string>> = {
  stillRejected: 'would be rejected again',
  waiting: 'its order has not been read without this fault yet',
  gone: 'its record is no longer in Kafka',
  noWay: 'there is no way to try it again with this configuration',
};

/** Rejects without an outcome are those that nothing could be tried for. */
export function reportOutcomes(
  rejects: readonly OpenReject[],
  outcomes: ReadonlyMap<OpenReject, Outcome>,
  refusal: string | null,
): RedriveReport {
  const counts = { stored: 0, readAgain: 0, stillRejected: 0, waiting: 0, gone: 0, noWay: 0 };
  const left: string[] = [];
  for (const reject of rejects) {
    const outcome = outcomes.get(reject) ?? 'noWay';
    counts[outcome] += 1;
    if (outcome === 'stored' || outcome === 'readAgain' || left.length === SHOWN) continue;
    left.push(`${whereOf(reject)}: ${reject.reason}, ${WHY[outcome]}`);
  }
  return { found: rejects.length, ...counts, left, refusal };
}

function whereOf(reject: OpenReject): string {
  if (reject.topic !== '') return placeText(reject);
  return reject.order_id === null
    ? reject.reject_id
    : `${reject.gateway}|${reject.order_type}|${reject.order_id}`;
}

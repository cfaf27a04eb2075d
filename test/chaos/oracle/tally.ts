/** One kind of thing that was accepted, laid beside what the views show. */
export interface Tally {
  readonly what: string;
  expected: number;
  stored: number;
  lost: number;
  duplicated: number;
  altered: number;
  outOfOrder: number;
  /** The first few that are wrong, in words. */
  readonly examples: string[];
}

export function createTally(what: string): Tally {
  return { what, expected: 0, stored: 0, lost: 0, duplicated: 0, altered: 0, outOfOrder: 0, examples: [] };
}

const EXAMPLES = 8;

/** Counts one that is wrong. */
export function blame(
  tally: Tally,
  fault: 'lost' | 'duplicated' | 'altered' | 'outOfOrder',
  example: string,
  count = 1,
): void {
  tally[fault] += count;
  if (tally.examples.length < EXAMPLES) tally.examples.push(`${fault}: ${example}`);
}

export const isClean = ({ lost, duplicated, altered, outOfOrder }: Tally): boolean =>
  lost + duplicated + altered + outOfOrder === 0;

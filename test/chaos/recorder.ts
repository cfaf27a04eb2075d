import type { Recorder } from './faults/fault.ts';

/** One kind of fault, as it came about. */
export interface FaultRecord {
  happened: number;
  missed: number;
  readonly evidence: string[];
  readonly why: string[];
}

/** All that a run saw, for its report. */
export interface Records extends Recorder {
  readonly faults: ReadonlyMap<string, FaultRecord>;
  readonly recoveries: readonly { readonly fault: string; readonly ms: number }[];
  readonly failures: readonly string[];
  /** Happenings whose name begins so. */
  countOf(prefix: string): number;
}

const KEPT = 3;

export function createRecords(say: (line: string) => void): Records {
  const faults = new Map<string, FaultRecord>();
  const recoveries: { fault: string; ms: number }[] = [];
  const failures: string[] = [];
  const of = (name: string): FaultRecord => {
    const known = faults.get(name) ?? { happened: 0, missed: 0, evidence: [], why: [] };
    faults.set(name, known);
    return known;
  };
  const keep = (list: string[], text: string): void => {
    if (list.length < KEPT && !list.includes(text)) list.push(text);
  };
  return {
    faults,
    recoveries,
    failures,
    happened(name, evidence, times = 1) {
      const record = of(name);
      record.happened += times;
      keep(record.evidence, evidence);
    },
    missed(name, why) {
      const record = of(name);
      record.missed += 1;
      keep(record.why, why);
      say(`${name} did not come about: ${why}`);
    },
    recovered(fault, ms) {
      recoveries.push({ fault, ms: Math.round(ms) });
      say(`${fault}: progress again after ${Math.round(ms)} ms`);
    },
    failed(what) {
      failures.push(what);
      say(`FAILED: ${what}`);
    },
    say,
    countOf: (prefix) =>
      [...faults].reduce((sum, [name, { happened }]) => sum + (name.startsWith(prefix) ? happened : 0), 0),
  };
}

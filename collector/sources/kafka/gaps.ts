import type { Batch } from 'kafkajs';
import type { OffsetGap } from './progress.ts';

/** Offsets that are missing between the records of one fetch: compaction removed them. */
export function gapsInside(batch: Batch): OffsetGap[] {
  const first = batch.firstOffset();
  if (first === null) return [];
  // Not in kafkajs' types: all that was fetched, control records included, which `messages` leaves out.
  const { rawMessages } = batch as Batch & { rawMessages?: { offset: string }[] };
  if (rawMessages === undefined) return [];
  const begin = BigInt(first);
  const span = BigInt(batch.lastOffset()) - begin + 1n;
  if (span === BigInt(rawMessages.length)) return [];
  const gaps: OffsetGap[] = [];
  let expected = begin;
  for (const { offset } of rawMessages) {
    const actual = BigInt(offset);
    if (actual < begin) continue;
    if (actual > expected)
      gaps.push({ expected: `${expected}`, actual: offset, missing: Number(actual - expected) });
    expected = actual + 1n;
  }
  return gaps;
}

import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Refused } from '../../../../collector/sources/http/guard.ts';
import { createRefusals } from '../../../../collector/sources/http/guard.ts';

it('every refusal is counted, and a line a minute names each reason', () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const counted: Refused[] = [];
  let nowMs = 0;
  const refused = createRefusals(
    log,
    (reason) => void counted.push(reason),
    () => nowMs,
  );
  for (let n = 0; n < 1_000; n += 1) refused('rate_limit');
  refused('foreign_host');
  nowMs = 60_000;
  refused('rate_limit');
  expect(counted).toHaveLength(1_002);
  expect(lines.map(({ reason, times }) => [reason, times])).toEqual([
    ['rate_limit', 1],
    ['foreign_host', 1],
    ['rate_limit', 1_000],
  ]);
});

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSpool } from '../../../store/embedded/spool.ts';
import { guardValues } from '../../../store/embedded/sql/insert-statement.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-spool-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('leaves no file behind when a source fails while its file is being made', async () => {
  const spool = openSpool(folder);
  for (let round = 0; round < 400; round++) {
    const stored = Array.from({ length: 1 + (round % 6) }, () => spool.store(refused()));
    const outcomes = await Promise.allSettled(stored);
    expect(outcomes.map(({ status }) => status)).toEqual(stored.map(() => 'rejected'));
  }
  // A file whose making was still under way is there once the next one is.
  const kept = await spool.store(Readable.from([Buffer.from('kept')]));
  expect(readdirSync(folder)).toEqual([basename(kept.name)]);
});

/** The rows of a VALUES clause with a second statement behind: fails before a byte of it is passed on. */
function refused(): AsyncIterable<Uint8Array> {
  return guardValues(Readable.from([Buffer.from('; DROP TABLE t')]));
}

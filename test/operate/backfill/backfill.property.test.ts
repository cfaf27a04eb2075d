import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backfill, type BackfillOptions } from '../../../operate/backfill/backfill.ts';
import type { BackfillState } from '../../../operate/backfill/state-file.ts';
import { CHUNK, type Destination } from '../../../operate/backfill/destination.ts';

interface Kept extends Destination {
  readonly ids: string[];
  readonly calls: number[];
}

/** Takes what it is given, until a test makes it fail. */
function createDestination(goneAfterCalls = Infinity, refuses: (id: string) => boolean = () => false): Kept {
  const ids: string[] = [];
  const calls: number[] = [];
  return {
    name: 'a test',
    ids,
    calls,
    ready: async () => undefined,
    async send(messages) {
      if (calls.length >= goneAfterCalls) throw new Error('gone');
      calls.push(messages.length);
      const problem = { field: 'gateway', received: 'another name', expected: 'x' };
      const bad = messages.flatMap((message, i) =>
        refuses(message.externalId ?? '') ? [[i, problem] as const] : [],
      );
      const refused = new Map(bad);
      ids.push(...messages.flatMap((message, i) => (refused.has(i) ? [] : [message.externalId ?? ''])));
      return refused;
    },
    close: async () => undefined,
  };
}

const HEADER = 'orderType,externalId\n';
/** Every seventh line is bad. */
const lineOf = (i: number) => (i % 7 === 3 ? `Refund,o${i}\n` : `Deposit,o${i}\n`);
const fileOf = (count: number, from = 0) =>
  HEADER + Array.from({ length: count }, (_, i) => lineOf(from + i)).join('');
const goodOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => from + i).flatMap((i) => (i % 7 === 3 ? [] : [`o${i}`]));

function run(text: string, destination: Destination | null, more: Partial<BackfillOptions> = {}) {
  const bytes = Buffer.from(text);
  return backfill({
    async *open() {
      for (let from = 0; from < bytes.length; from += 1000) yield bytes.subarray(from, from + 1000);
    },
    defaults: {},
    gateways: null,
    destination,
    onRefused: () => undefined,
    onWaiting: () => undefined,
    signal: new AbortController().signal,
    ...more,
  });
}

describe('a backfill', () => {
  it('hands over each good line once and in order, in chunks, and counts the bad ones', async () => {
    const destination = createDestination();
    const refused: number[] = [];
    const result = await run(fileOf(1500), destination, { onRefused: (line) => refused.push(line) });
    expect(destination.ids).toEqual(goodOf(1500));
    expect(Math.max(...destination.calls)).toBe(CHUNK);
    expect(result).toEqual({
      lines: 1500,
      taken: goodOf(1500).length,
      refused: 1500 - goodOf(1500).length,
      skipped: 0,
      complete: true,
      changed: false,
    });
    expect(refused.slice(0, 2)).toEqual([5, 12]);
  });

  it('that was cut off anywhere goes on there: nothing is left out, and only what was under way comes twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2500), fc.array(fc.nat(3), { maxLength: 4 }), async (lines, cuts) => {
        const text = fileOf(lines);
        let state: BackfillState | null = null;
        const keep = async (next: BackfillState) => void (state = next);
        const all: string[] = [];
        for (const calls of cuts) {
          const destination = createDestination(calls);
          await run(text, destination, { resume: state, keep }).catch(() => undefined);
          all.push(...destination.ids);
        }
        const destination = createDestination();
        const result = await run(text, destination, { resume: state, keep });
        all.push(...destination.ids);
        expect(all).toEqual(goodOf(lines));
        const good = goodOf(lines).length;
        expect(result).toMatchObject({ lines, taken: good, refused: lines - good, complete: true });
        expect(state).toMatchObject({ done: true, taken: good });
      }),
      { numRuns: 50 },
    );
  });

  it('of a file that has grown takes the new lines only; of one that was changed, all of them', async () => {
    let state: BackfillState | null = null;
    const keep = async (next: BackfillState) => void (state = next);
    await run(fileOf(600), createDestination(), { keep });
    const grown = createDestination();
    const result = await run(fileOf(650), grown, { resume: state, keep });
    expect(grown.ids).toEqual(goodOf(50, 600));
    expect(result).toMatchObject({ lines: 650, skipped: 600, changed: false });

    const changed = createDestination();
    const again = await run(fileOf(650, 1), changed, { resume: state });
    expect(changed.ids).toEqual(goodOf(650, 1));
    expect(again).toMatchObject({ skipped: 0, changed: true, taken: goodOf(650, 1).length });

    const cut = createDestination();
    expect(await run(fileOf(10), cut, { resume: state })).toMatchObject({ changed: true });
    expect(cut.ids).toEqual(goodOf(10));
  });

  it('reports the line of an order that the destination refuses', async () => {
    const refused: number[] = [];
    const destination = createDestination(Infinity, (id) => id === 'o2' || id === 'o700');
    const result = await run(fileOf(800), destination, { onRefused: (line) => refused.push(line) });
    expect(refused).toContain(4);
    expect(refused).toContain(702);
    expect(result.refused).toBe(800 - goodOf(800).length + 2);
  });

  it('refuses gateways that nobody has, where the names are known, without repeating them', async () => {
    const text = 'orderType,externalId,gateway\nDeposit,a,acme\nDeposit,b,4111111111111111\nDeposit,c,\n';
    const problems: string[] = [];
    const onRefused: BackfillOptions['onRefused'] = (line, { field, received }) =>
      problems.push(`${line} ${field} ${received}`);
    await run(text, null, { gateways: ['acme', 'other'], onRefused });
    expect(problems).toEqual(['3 gateway another name', '4 gateway nothing']);
    expect(await run(text.replace(/,4111.*/, ',acme'), null, { gateways: ['acme'] })).toMatchObject({
      refused: 0,
    });
  });

  it('ends after the chunk under way when it is interrupted, and goes on there', async () => {
    const stopping = new AbortController();
    let state: BackfillState | null = null;
    const keep = async (next: BackfillState) => {
      state = next;
      stopping.abort();
    };
    const destination = createDestination();
    const result = await run(fileOf(3000), destination, { keep, signal: stopping.signal });
    expect(result.complete).toBe(false);
    expect(destination.calls).toEqual([CHUNK]);
    const rest = createDestination();
    await run(fileOf(3000), rest, { resume: state });
    expect([...destination.ids, ...rest.ids]).toEqual(goodOf(3000));
  });
});

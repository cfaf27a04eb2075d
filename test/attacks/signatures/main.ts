import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { decodeCallback, type Examine } from '../../../collector/decode/callback.ts';
import { nameCause } from '../../../collector/decode/signature-cause.ts';
import { Secret } from '../../../schemas/secret.ts';
import { genuine, MUTATIONS, OTHER_KEY, TOKEN } from '../../collector/decode/signature-mutations.ts';
import { POLICY } from '../../support/fingerprint.ts';

const HELP = `node test/attacks/signatures/main.ts [--count N] [--seed N] [--out FILE]

Signs N callbacks of each kind by other rules than those of the interface, and counts which cause is named and how
many are accepted; then measures what a callback costs with and without. Exit codes: 0 at least 99 % named right
and none accepted, 1 not so.`;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '20261123' },
    out: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

if (values.help === true) console.log(HELP);
else process.exitCode = main(Number(values.count), Number(values.seed), values.out);

function main(count: number, seed: number, out: string | undefined): number {
  const kinds = Object.entries(MUTATIONS).map(([cause, ways]) => {
    const result = { cause, callbacks: 0, named: 0, accepted: 0, otherwise: {} as Record<string, number> };
    for (const [index, one] of fc.sample(genuine, { numRuns: count, seed }).entries()) {
      const way = ways[index % ways.length];
      if (way === undefined) continue;
      const { verdict, row } = decode(way(one), one.key, examineWith(one.key));
      result.callbacks += 1;
      if (verdict !== 'mismatch') result.accepted += 1;
      if (row.signature_cause === cause) result.named += 1;
      else result.otherwise[row.signature_cause] = (result.otherwise[row.signature_cause] ?? 0) + 1;
    }
    return result;
  });
  const passed = kinds.every(({ callbacks, named, accepted }) => accepted === 0 && named >= 0.99 * callbacks);
  const report = {
    verdict: passed ? 'passed' : 'failed',
    node: process.version,
    seed,
    kinds,
    microseconds: costs(seed),
  };
  const text = JSON.stringify(report, null, 2);
  if (out === undefined) console.log(text);
  else writeFileSync(out, `${text}\n`);
  const sum = (field: 'callbacks' | 'named' | 'accepted'): number =>
    kinds.reduce((total, kind) => total + kind[field], 0);
  console.error(
    `${kinds.length} kinds, ${sum('callbacks')} callbacks: ${sum('named')} named right, ${sum('accepted')} accepted; ` +
      `us a callback: ${JSON.stringify(report.microseconds)}`,
  );
  return passed ? 0 : 1;
}

function decode(sent: { body: object; signature: string }, key: string, examine?: Examine, keys = [key]) {
  const delivery = {
    gateway: 'acme-eu',
    body: Buffer.from(JSON.stringify(sent.body)),
    signatures: [sent.signature],
    deliveryId: 'one',
    receivedAt: 1,
    source: 'http',
    coordinates: null,
  } as const;
  const secrets = { keys: keys.map((text) => new Secret(text)), seal: new Secret(TOKEN) };
  return decodeCallback(delivery, secrets, POLICY, examine);
}

function examineWith(...keys: readonly string[]): Examine {
  const hints = {
    keys: keys.map((key) => new Secret(key)),
    token: new Secret(TOKEN),
    otherKeys: [new Secret(OTHER_KEY)],
    known: { amount: '12.5', externalTransactionId: 'shop-1' },
  };
  return (mismatch) => nameCause(mismatch, hints);
}

/** Microseconds of processor time to decode a callback that does not verify: medians of rounds. */
function costs(seed: number): Record<string, number> {
  const sample = fc.sample(genuine, { numRuns: 500, seed }).map((one) => {
    const mutate = MUTATIONS.unexplained?.[0];
    return { one, sent: mutate?.(one) ?? { body: one.body, signature: '' } };
  });
  const measure = (
    examine: (key: string) => Examine | undefined,
    keys: (key: string) => string[],
  ): number => {
    const rounds = Array.from({ length: 9 }, () => {
      const begun = process.cpuUsage();
      for (const { one, sent } of sample) decode(sent, one.key, examine(one.key), keys(one.key));
      const { user, system } = process.cpuUsage(begun);
      return (user + system) / sample.length;
    }).toSorted((a, b) => a - b);
    return Math.round((rounds[4] ?? 0) * 10) / 10;
  };
  const second = 'a-second-key-of-this-gateway-001';
  return {
    notExamined: measure(
      () => undefined,
      (key) => [key],
    ),
    examinedOneKey: measure(
      (key) => examineWith(key),
      (key) => [key],
    ),
    examinedTwoKeys: measure(
      (key) => examineWith(key, second),
      (key) => [key, second],
    ),
  };
}

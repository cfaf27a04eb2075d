import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  handleCallbackRecords,
  handleWatchRecords,
  toDelivery,
} from '../../../collector/orders/from-kafka-record.ts';
import { coordinatesRange } from '../../../collector/orders/coordinates.ts';
import type { KafkaRecord } from '../../../schemas/kafka.ts';
import { callback, createPipeline, GATEWAY } from '../../support/pipeline.ts';
import { fingerprint } from '../../support/fingerprint.ts';

const record = (offset: bigint): KafkaRecord => ({
  topic: 'a/b',
  partition: 3,
  offset: String(offset),
  key: null,
  value: null,
  headers: new Map(),
  timestampMs: 0,
});

it('Coordinates name every offset that was handed over, and none that was not', () => {
  const offsets = fc.uniqueArray(fc.bigInt({ min: 0n, max: 60n }), { maxLength: 40 });
  const base = fc.constantFrom(0n, 9_007_199_254_740_990n);
  fc.assert(
    fc.property(offsets, base, (some, from) => {
      const wanted = some.map((offset) => from + offset).toSorted((a, b) => (a < b ? -1 : 1));
      const named = coordinatesRange(wanted.map(record)).flatMap((range) => {
        const [, first, last] = /^a\/b\/3@(\d+)-(\d+)$/.exec(range) ?? [];
        const count = Number(BigInt(last ?? -1) - BigInt(first ?? 0)) + 1;
        return Array.from({ length: count }, (_, i) => BigInt(first ?? 0) + BigInt(i));
      });
      expect(named).toEqual(wanted);
    }),
  );
});

it('Coordinates of records without a hole are one range', () => {
  expect(coordinatesRange([7n, 8n, 9n].map(record))).toEqual(['a/b/3@7-9']);
  expect(coordinatesRange([])).toEqual([]);
});

const deliveryIdOf = (from: KafkaRecord): string =>
  toDelivery(from, () => undefined, 1, fingerprint).deliveryId;

it('A record without a delivery id is known by its place, in plain words', () => {
  expect(deliveryIdOf(record(7n))).toBe('a/b/3@7');
});

it('A delivery id that anybody can write is kept only when it looks like one', () => {
  const withId = (text: string): KafkaRecord => ({
    ...record(7n),
    headers: new Map([['delivery-id', [Buffer.from(text)]]]),
  });
  expect(deliveryIdOf(withId('7d9f2c1e-4b7a-4d53'))).toBe('7d9f2c1e-4b7a-4d53');
  for (const text of ['4111111111111111', 'ada@example.com', 'a/b/3@7', 'ADA LOVELACE'])
    expect(deliveryIdOf(withId(text))).toBe(fingerprint(text));
});

it('A signature that is sent twice alike is one, and two different ones stay two', () => {
  const signed = (...values: string[]): KafkaRecord => ({
    ...record(7n),
    headers: new Map([['signature', values.map((value) => Buffer.from(value))]]),
  });
  const signaturesOf = (from: KafkaRecord) => toDelivery(from, () => undefined, 1, fingerprint).signatures;
  expect(signaturesOf(signed('abc', 'abc'))).toEqual(['abc']);
  expect(signaturesOf(signed('abc', 'ABC'))).toEqual(['abc', 'ABC']);
});

it('Tombstones of a compacted topic are no malformed messages, and not accounted for as taken in', async () => {
  const { context, sink } = createPipeline();
  const { body, signatures } = callback({ externalId: 'order-1' });
  const real: KafkaRecord = {
    ...record(8n),
    value: body,
    headers: new Map([['signature', signatures.map((text) => Buffer.from(text))]]),
  };
  let taken = 0;
  const take = () => void (taken += 1);
  await handleCallbackRecords([record(7n), real, record(9n)], () => GATEWAY, context, take);
  await handleCallbackRecords([record(10n)], () => GATEWAY, context, take);
  await handleWatchRecords([record(11n)], context);
  expect(sink.rows('callbackDeliveries')).toMatchObject([{ verdict: 'valid', external_id: 'order-1' }]);
  expect(sink.rows('rejects')).toEqual([]);
  expect(sink.provenance()).toMatchObject({ kafkaRecords: 1, coordinates: ['a/b/3@8-8'] });
  expect(taken).toBe(2);
});

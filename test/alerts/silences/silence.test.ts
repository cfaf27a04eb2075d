import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isActive, matches, silenceOf, silencesToShow } from '../../../alerts/silences/silence.ts';
import type { Silence } from '../../../schemas/silence.ts';

const silence = (more: Partial<Silence> = {}): Silence => ({
  id: 'one',
  kind: 'silenced',
  rule: '',
  gateway: '',
  slice: '',
  label: '',
  createdAt: 0,
  until: 100,
  reason: 'maintenance',
  by: 'me',
  ...more,
});
const alert = { rule: 'A', gateway: 'acme-eu', slice: 'channel=p2p', label: 'CHECK', firedAt: 10 };

it('a silence holds from its begin until its end, for what it names', () => {
  expect(silenceOf([silence()], alert, 99)?.id).toBe('one');
  expect(silenceOf([silence()], alert, 100)).toBeNull();
  expect(silenceOf([silence({ createdAt: 50 })], alert, 49)).toBeNull();
  expect(
    silenceOf([silence({ rule: 'A', gateway: 'acme-eu', slice: 'channel=p2p' })], alert, 1),
  ).not.toBeNull();
  expect(silenceOf([silence({ gateway: 'acme-us' })], alert, 1)).toBeNull();
  expect(silenceOf([silence({ slice: 'channel=card' })], { ...alert, slice: '' }, 1)).toBeNull();
});

it('an acknowledgement is of alerts that fired before it: the next one is notified again', () => {
  const acknowledged = silence({ kind: 'acknowledged', until: null, createdAt: 20 });
  expect(silenceOf([acknowledged], alert, 1_000)).toBe(acknowledged);
  expect(silenceOf([acknowledged], { ...alert, firedAt: 21 }, 1_000)).toBeNull();
});

it('a silence counts more than an acknowledgement, and the one that lasts longest most', () => {
  const acknowledged = silence({ id: 'ack', kind: 'acknowledged', until: null, createdAt: 20 });
  const [short, long] = [silence({ id: 'short', until: 50 }), silence({ id: 'long', until: 90 })];
  expect(silenceOf([acknowledged, short, long], alert, 30)?.id).toBe('long');
  expect(silenceOf([acknowledged, short], alert, 60)?.id).toBe('ack');
});

it('an acknowledgement is over when its alerts are', () => {
  const both = [silence(), silence({ id: 'ack', kind: 'acknowledged', until: null, createdAt: 20 })];
  expect(silencesToShow(both, [alert]).map(({ id }) => id)).toEqual(['one', 'ack']);
  expect(silencesToShow(both, [{ ...alert, firedAt: 21 }]).map(({ id }) => id)).toEqual(['one']);
});

const name = fc.constantFrom('', 'A', 'B');
const time = fc.integer({ min: 0, max: 50 });
const anySilence = fc.record({
  id: fc.string(),
  kind: fc.constantFrom('silenced' as const, 'acknowledged' as const),
  rule: name,
  gateway: name,
  slice: name,
  label: name,
  createdAt: time,
  until: fc.option(time),
  reason: fc.string(),
  by: fc.string(),
});
const anyAlert = fc.record({ rule: name, gateway: name, slice: name, label: name, firedAt: time });

it('whatever holds for an alert is active and names nothing else than the alert has', () => {
  fc.assert(
    fc.property(fc.array(anySilence), anyAlert, time, (silences, one, now) => {
      const found = silenceOf(silences, one, now);
      const holding = silences.filter((each) => isActive(each, now) && matches(each, one));
      expect(found === null).toBe(holding.length === 0);
      if (found === null) return;
      for (const key of ['rule', 'gateway', 'slice', 'label'] as const)
        expect(['', one[key]]).toContain(found[key]);
      expect(found.createdAt).toBeLessThanOrEqual(now);
      expect(found.until ?? now + 1).toBeGreaterThan(now);
      if (found.kind === 'acknowledged') {
        expect(one.firedAt).toBeLessThanOrEqual(found.createdAt);
        expect(holding.every(({ kind }) => kind === 'acknowledged')).toBe(true);
      }
    }),
  );
});

it('a matcher that is left out matches at least what it matched before', () => {
  fc.assert(
    fc.property(
      anySilence,
      anyAlert,
      fc.constantFrom('rule', 'gateway', 'slice', 'label'),
      (one, what, key) => {
        if (matches(one, what)) expect(matches({ ...one, [key]: '' }, what)).toBe(true);
      },
    ),
  );
});

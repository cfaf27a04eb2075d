import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Firing, incidentId, incidentsIn } from '../../../alerts/incidents/group.ts';
import { SEVERITIES } from '../../../alerts/rules/rule.ts';

const MINUTE = 60_000;
const firing = (
  rule: string,
  firedAt: number,
  endedAt: number | null,
  more: Partial<Firing> = {},
): Firing => ({
  rule,
  gateway: 'acme-eu',
  slice: '',
  label: '',
  severity: 'critical',
  firedAt: firedAt * MINUTE,
  endedAt: endedAt === null ? null : endedAt * MINUTE,
  ...more,
});
const rules = (firings: readonly Firing[]) =>
  incidentsIn(firings).map((members) => members.map(({ rule }) => rule).join(' '));

it('what fires while an alert of the gateway fires, or up to ten minutes after it, belongs to the incident', () => {
  expect(rules([firing('A', 0, 30), firing('B', 5, 20), firing('C', 40, 41)])).toEqual(['A B C']);
  expect(rules([firing('A', 0, 30), firing('C', 41, 50)])).toEqual(['A', 'C']);
  expect(rules([firing('A', 0, null), firing('B', 600, null)])).toEqual(['A B']);
});

it('each link holds the chain together', () => {
  expect(rules([firing('A', 0, 2), firing('B', 12, 14), firing('C', 24, 26)])).toEqual(['A B C']);
});

it('gateways have incidents of their own, and so has what concerns none', () => {
  const at = (gateway: string) => firing('A', 0, null, { gateway });
  expect(incidentsIn([at('acme-eu'), at('acme-us'), at('')]).map((one) => one.length)).toEqual([1, 1, 1]);
  expect(incidentId(firing('A', 1, null))).toBe('acme-eu/1970-01-01T00:01:00Z');
  expect(incidentId(at(''))).toBe('*/1970-01-01T00:00:00Z');
});

it('a warning that stands for days does not swallow the outage of another day', () => {
  const warning = firing('W', 0, null, { severity: 'warning' });
  expect(rules([warning, firing('A', 119, 130)])).toEqual(['W A']);
  expect(rules([warning, firing('A', 1_440, null), firing('B', 1_445, null)])).toEqual(['W', 'A B']);
});

it('info makes no incident and joins none, and the worst of one instant comes first', () => {
  expect(rules([firing('I', 0, null, { severity: 'info' })])).toEqual([]);
  const same = [firing('B', 0, null, { severity: 'warning' }), firing('I', 0, 1, { severity: 'info' })];
  expect(rules([...same, firing('C', 0, null)])).toEqual(['C B']);
});

const minute = fc.integer({ min: 0, max: 400 });
const anyFiring = fc
  .record({
    rule: fc.constantFrom('A', 'B', 'C'),
    gateway: fc.constantFrom('acme-eu', 'acme-us', ''),
    slice: fc.constantFrom('', 'channel=p2p'),
    severity: fc.constantFrom(...SEVERITIES),
    at: minute,
    lasts: fc.option(minute),
  })
  .map(({ at, lasts, rule, ...more }) => firing(rule, at, lasts === null ? null : at + lasts, more));
/** One alert fires once at an instant. */
const anyFirings = fc.uniqueArray(anyFiring, {
  maxLength: 25,
  selector: ({ rule, gateway, slice, firedAt }) => [rule, gateway, slice, firedAt].join('/'),
});

it('any order of the same alerts gives the same incidents', () => {
  fc.assert(
    fc.property(
      anyFirings.chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
      ),
      ([all, shuffled]) => {
        expect(incidentsIn(shuffled)).toEqual(incidentsIn(all));
      },
    ),
  );
});

it('every alert but info is in exactly one incident, of its own gateway', () => {
  fc.assert(
    fc.property(anyFirings, (all) => {
      const incidents = incidentsIn(all);
      const members = incidents.flat();
      expect(new Set(members)).toEqual(new Set(all.filter(({ severity }) => severity !== 'info')));
      expect(members).toHaveLength(new Set(members).size);
      for (const one of incidents) expect(new Set(one.map(({ gateway }) => gateway)).size).toBe(1);
      const ids = incidents.map(([first]) => first && incidentId(first));
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

it('what comes later never changes which alert an incident begins with', () => {
  fc.assert(
    fc.property(anyFirings, minute, (all, until) => {
      const asKnown = (at: number) =>
        all
          .filter(({ firedAt }) => firedAt <= at)
          .map((one) => ({
            ...one,
            endedAt: one.endedAt !== null && one.endedAt <= at ? one.endedAt : null,
          }));
      const ids = (firings: readonly Firing[]) =>
        new Map(
          incidentsIn(firings).flatMap((members) =>
            members.map((one) => [
              `${one.rule} ${one.gateway} ${one.slice} ${one.firedAt}`,
              incidentId(members[0] ?? one),
            ]),
          ),
        );
      const later = ids(asKnown(800 * MINUTE));
      for (const [key, id] of ids(asKnown(until * MINUTE))) expect(later.get(key)).toBe(id);
    }),
  );
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outcomeOf, planGapMs, planLife, planRequest, statusOf, type Life } from '../../sandbox/life.ts';
import { CHANNELS, INCIDENT_NAMES, INCIDENTS, SCENARIOS } from '../../sandbox/scenarios.ts';
import { CATALOGUE, OUTCOMES } from '../../schemas/dictionary.ts';

const CATALOGUED: ReadonlySet<string> = new Set(CATALOGUE.map(({ action }) => action));
const TEN_MINUTES_US = 600e6;

const anyOrder = fc.record({
  seed: fc.string(),
  sequence: fc.nat(1e6),
  channel: fc.constantFrom(...CHANNELS),
});
const lives = (check: (life: Life) => void, conditions = {}) =>
  fc.assert(
    fc.property(anyOrder, ({ seed, sequence, channel }) =>
      check(planLife(seed, sequence, channel, conditions)),
    ),
    { numRuns: 1000 },
  );

const fifty = (seed: string) => Array.from({ length: 50 }, (_, i) => planLife(seed, i, 'acquiring'));

describe('the life of an order', () => {
  it('is the same for the same seed, number and channel', () => {
    fc.assert(
      fc.property(anyOrder, ({ seed, sequence, channel }) => {
        expect(planLife(seed, sequence, channel)).toEqual(planLife(seed, sequence, channel));
      }),
    );
    expect(fifty('1')).not.toEqual(fifty('2'));
  });

  it('has its items in time order, from the first one at creation', () => {
    lives(({ items }) => {
      expect(items[0]).toMatchObject({ action: '1.0.0.00', atUs: 0 });
      const times = items.map(({ atUs }) => atUs);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      for (const item of items) expect(item.visibleAtUs).toBeGreaterThanOrEqual(item.atUs);
    });
  });

  it('holds only codes of the catalogue', () => {
    lives(({ items }) => {
      for (const { action } of items) expect(CATALOGUED).toContain(action);
    });
  });

  it('ends with the status of its deciding item, and late items do not change it', () => {
    lives(({ items, final, outcome }) => {
      const deciding = items.findLast(({ action }) => statusOf(action));
      expect(final?.status).toBe(deciding && statusOf(deciding.action));
      const first = items.find(({ action }) => statusOf(action));
      expect(final?.atUs).toBe(first?.atUs);
      const prompt = items.filter(
        ({ atUs, visibleAtUs }) => atUs === visibleAtUs && (!final || atUs <= final.atUs),
      );
      expect(outcomeOf(prompt.map(({ action }) => action))).toBe(outcome);
    });
  });

  it('gets its late items within ten minutes of the end, at the end of the list and inside it', () => {
    let inside = 0;
    let outside = 0;
    lives(
      ({ items, final }) => {
        if (!final) return;
        for (const item of items) {
          expect(item.visibleAtUs - final.atUs).toBeLessThan(TEN_MINUTES_US);
          const late = item.visibleAtUs > item.atUs;
          expect(!late || (item.atUs < final.atUs && item.visibleAtUs > final.atUs)).toBe(true);
          if (late) inside++;
          else if (item.atUs > final.atUs + 5e6) outside++;
        }
      },
      { lateShare: 1 },
    );
    expect(inside).toBeGreaterThan(100);
    expect(outside).toBeGreaterThan(100);
  });

  it('calls back in the order of events, ending with the final status', () => {
    lives(({ callbacks, final, amountChange }) => {
      expect(callbacks.map(({ atUs }) => atUs)).toEqual(
        callbacks.map(({ atUs }) => atUs).toSorted((a, b) => a - b),
      );
      const types = callbacks.map(({ type }) => type);
      expect(types[0]).toBe('Create');
      expect(types.filter((type) => type === 'Success' || type === 'Failed')).toEqual(
        final ? [final.status] : [],
      );
      expect(types.includes('AmountChanged')).toBe(amountChange !== null);
    });
  });

  it('shows every code of the catalogue and every outcome over many seeds', () => {
    const seen = new Set<string>();
    const outcomes = new Set<string>();
    for (let seed = 0; seed < 30; seed++) {
      for (let i = 0; i < 500; i++) {
        const life = planLife(String(seed), i, CHANNELS[i % CHANNELS.length] ?? 'acquiring');
        for (const { action } of life.items) seen.add(action);
        outcomes.add(life.outcome);
      }
    }
    expect([...CATALOGUED].filter((action) => !seen.has(action))).toEqual([]);
    expect([...outcomes].sort()).toEqual([...OUTCOMES, 'pending'].sort());
  });

  it('puts codes that the catalogue lacks before the end, where they decide nothing', () => {
    const codes = ['1.2.4.18', '7.0.0.00', '10.2.31.4'];
    fc.assert(
      fc.property(anyOrder, fc.constantFrom(...codes), ({ seed, sequence, channel }, code) => {
        const plain = planLife(seed, sequence, channel, { lateShare: 0 });
        const strange = planLife(seed, sequence, channel, { lateShare: 0, foreignCodes: [code] });
        expect(strange.final).toEqual(plain.final);
        expect(strange.outcome).toBe(plain.outcome);
        expect(plain.final === null || strange.items.some(({ action }) => action === code)).toBe(true);
      }),
    );
  });
});

describe('an incident', () => {
  it('turns its share of the orders into its scenarios and leaves the others as they were', () => {
    for (const name of INCIDENT_NAMES.filter((candidate) => INCIDENTS[candidate].scenarios.length > 0)) {
      const hit: readonly string[] = INCIDENTS[name].scenarios;
      const incidents = [{ name, share: 0.4 }];
      const numbers = Array.from({ length: 1000 }, (_, i) => i);
      const spared = numbers.filter(
        (i) => !hit.includes(planLife('seed', i, 'acquiring', { incidents }).scenario),
      );
      for (const i of spared) {
        expect(planLife('seed', i, 'acquiring', { incidents })).toEqual(planLife('seed', i, 'acquiring'));
      }
      const changed = 1000 - spared.length;
      expect(changed).toBeGreaterThan(340);
      expect(changed).toBeLessThan(560);
    }
  });

  it('does not touch a channel it was not meant for, nor one that cannot have it', () => {
    const incidents = [{ name: 'tech_timeout', share: 1, channel: 'p2p' }] as const;
    expect(planLife('1', 1, 'p2p', { incidents }).scenario).toBe('create_timeout');
    expect(planLife('1', 1, 'token', { incidents })).toEqual(planLife('1', 1, 'token'));
    const form = [{ name: 'payform_drop', share: 1 }] as const;
    expect(planLife('1', 1, 'payout', { incidents: form })).toEqual(planLife('1', 1, 'payout'));
  });

  it('names only scenarios that exist', () => {
    const names = SCENARIOS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { scenarios } of Object.values(INCIDENTS))
      for (const name of scenarios) expect(names).toContain(name);
  });
});

describe("the sandbox's own traffic", () => {
  it('asks for the same orders for the same seed, with amounts of at most two decimals', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1e6), (seed, sequence) => {
        const request = planRequest(seed, sequence);
        expect(request).toEqual(planRequest(seed, sequence));
        expect(Number.isInteger(request.amountMinor)).toBe(true);
        expect(request.amountMinor).toBeGreaterThan(0);
        expect(request.amountMinor).toBeLessThan(600_000);
      }),
    );
  });

  it('arrives at the rate asked for', () => {
    const total = Array.from({ length: 5000 }, (_, i) => planGapMs('1', i, 20)).reduce(
      (sum, gap) => sum + gap,
      0,
    );
    expect(total / 5000).toBeGreaterThan(47);
    expect(total / 5000).toBeLessThan(53);
  });

  it('fails a moment before it succeeds, or never ends, where a fault says so', () => {
    for (let sequence = 0; sequence < 50; sequence += 1) {
      const reversed = planLife('1', sequence, 'acquiring', { failsFirst: true });
      const codes = reversed.items.map(({ action }) => action);
      if (reversed.final?.status === 'Success')
        expect(codes.indexOf('4.1.4.00')).toBeLessThan(codes.findIndex((code) => /\.3\.\d\d$/.test(code)));
      const endless = planLife('1', sequence, 'acquiring', { neverEnds: true });
      expect(endless).toMatchObject({ final: null, outcome: 'pending' });
      expect(endless.items.at(-1)?.action).toBe('4.2.2.13');
    }
  });
});

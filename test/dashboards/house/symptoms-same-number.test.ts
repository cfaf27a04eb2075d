import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOW, trailingScope } from '../../../alerts/count/scope.ts';
import { withWatermarks } from '../../../schemas/measures.ts';
import { symptomCounts, SYMPTOMS, type SymptomName } from '../../../dashboards/house/symptoms.ts';
import { WINDOWS } from '../../../schemas/windows.ts';
import { expandMacros } from '../../../store/macros.ts';
import { panelNamed } from '../generated.ts';
import { FROM, seed, type Seeded, startSeeded, TO } from '../seeded.ts';

/** So wide that the whole range falls into one bucket. */
const ONE_BUCKET_MS = 1e12;
const GATEWAY = { gateway: ['acme-eu'] };

describe('panel, rule and SQL give the same number for the same window', () => {
  let seeded: Seeded;
  /** The instant at which a rule's window of this length ends where the panels' range ends. */
  const asOf = TO + WINDOWS.lagSeconds * 1000;
  beforeAll(async () => {
    seeded = await startSeeded([
      seed(),
      { gatewayStatus: [{ gateway: 'acme-eu', reportedAt: asOf - 1000, watermarkAt: asOf - 2000 }] },
    ]);
  });
  afterAll(() => seeded?.store.stop());
  const whole = async (title: string) =>
    (await seeded.run(panelNamed(title).targets?.[0]?.rawSql ?? '', GATEWAY, ONE_BUCKET_MS)).data;

  it.each([
    ['techTimeouts', 'Orders with timeouts, share by stage'],
    ['authzFailures', 'Orders refused access, share by stage'],
    ['signatureMismatches', 'Orders with wrong signatures, by side'],
  ] as const satisfies readonly (readonly [SymptomName, string])[])('%s', async (name, title) => {
    const { splitBy } = SYMPTOMS[name];
    const { within } = trailingScope({ from: { kind: 'items' }, splitBy, counts: [] }, (TO - FROM) / 1000);
    const window = { contains: within, items: `${within('event_time')} AND observed_at <= ${NOW}` };
    const sql = `${withWatermarks(NOW)}
SELECT ${splitBy} AS label, affected / seen AS share, seen FROM (${symptomCounts(SYMPTOMS[name], { window })})
WHERE gateway = 'acme-eu' ORDER BY label`;
    const { data } = await seeded.store.query(
      expandMacros(sql, { from: new Date(FROM), to: new Date(asOf), intervalMs: 60_000 }),
    );
    const drawn = (await whole(title)).map((row) => ({
      label: row[splitBy],
      share: row['share'],
      seen: row['orders'],
    }));
    expect(data.length).toBe(2);
    expect(drawn).toEqual(data);
  });

  it('the shares over time and the numbers above them', async () => {
    const [over] = await whole('Technical success and approval over time');
    const [technical] = await whole('Technical success');
    const [approval] = await whole('Approval');
    expect(over).toMatchObject({
      technical_success: technical?.['technical_success'],
      finished_orders: technical?.['finished_orders'],
      approval: approval?.['approval'],
    });
    const outcomes = await whole('Finished orders, by outcome');
    expect(outcomes.reduce((sum, row) => sum + Number(row['orders']), 0)).toBe(
      technical?.['finished_orders'],
    );
  });

  it('a cell of the heat table and the list that it leads to', async () => {
    const cell = (await whole('Orders with failures, by stage and reason')).find(
      (row) => row['reason'] === '11',
    );
    const listed = await seeded.runPanel('Orders with failures', {
      ...GATEWAY,
      stage: ['GATEWAY_CREATE'],
      reason: ['11'],
    });
    expect(Number(cell?.['GATEWAY_CREATE'])).toBeGreaterThan(10);
    expect(listed).toHaveLength(Math.min(100, Number(cell?.['GATEWAY_CREATE'])));
  });
});

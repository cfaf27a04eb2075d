import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { panelNamed } from '../generated.ts';
import { type Seeded, startSeeded } from '../seeded.ts';

/** So wide that the whole range falls into one bucket. */
const ONE_BUCKET_MS = 1e12;
const GATEWAY = { gateway: ['acme-eu'] };

describe('panels over the same window give the same number', () => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await startSeeded();
  });
  afterAll(() => seeded?.store.stop());
  const whole = async (title: string) =>
    (await seeded.run(panelNamed(title).targets?.[0]?.rawSql ?? '', GATEWAY, ONE_BUCKET_MS)).data;

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

import { createPipeline, type GatewayOrder } from '../../support/pipeline.ts';

export const ID = '7d9f2c1e-4b7a-4d53-9a51-0c9f6a1b2c3d';
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** A pipeline that watches one order. */
export async function watching(
  order: Partial<GatewayOrder> = {},
  policy: Parameters<typeof createPipeline>[0] = {},
) {
  const pipeline = createPipeline(policy);
  const known: GatewayOrder = {
    externalId: ID,
    orderStatus: 'Processing',
    history: [[0, '1.1.1.00']],
    ...order,
  };
  pipeline.orders.set(ID, known);
  await pipeline.watch({ orderType: 'Deposit', externalId: ID });
  await pipeline.clock.advance(1);
  const actions = () => pipeline.sink.rows('historyEvents').map(({ action }) => action);
  return { ...pipeline, order: known, actions };
}

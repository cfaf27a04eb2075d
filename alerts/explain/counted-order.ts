import type { OrderType } from '../../schemas/dictionary.ts';
import { sqlText } from '../../schemas/measures.ts';

/** Which order, in the store's terms. */
export interface CountedOrder {
  readonly gateway: string;
  readonly orderType: OrderType;
  readonly externalId: string;
}

/** One order instead of a window: SQL of a condition on its rows. */
export const ofOrder = ({ gateway, orderType, externalId }: CountedOrder): string =>
  `gateway = ${sqlText(gateway)} AND order_type = ${sqlText(orderType)} AND external_id = ${sqlText(externalId)}`;

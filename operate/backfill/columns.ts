import type { WatchMessage } from '../../schemas/watch.ts';
import { ORDER_TYPES } from '../../schemas/dictionary.ts';

/** Columns of a file, as the fields of a watch message. */
export const FIELDS = [
  'orderType',
  'externalId',
  'externalTransactionId',
  'gateway',
  'channel',
  'amount',
  'currency',
] as const satisfies readonly (keyof WatchMessage)[];
export type BackfillField = (typeof FIELDS)[number];

/** `external_id`, `External ID` and `externalId` are one name. */
const fold = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');
const BY_NAME = new Map<string, BackfillField>(FIELDS.map((field) => [fold(field), field]));

export function fieldOf(column: string): BackfillField | undefined {
  return BY_NAME.get(fold(column));
}

/** What a line leaves out. */
export interface Defaults {
  readonly orderType?: string;
  readonly gateway?: string;
}

/** Named values of one line as a watch message, still to be checked. Empty ones are left out. */
export function toMessage(
  values: Iterable<readonly [BackfillField, unknown]>,
  defaults: Defaults,
): Record<string, unknown> {
  const message: Record<string, unknown> = { ...defaults };
  for (const [field, value] of values) {
    const tidy = typeof value === 'string' ? value.trim() : value;
    if (tidy !== '' && tidy !== null && tidy !== undefined) message[field] = tidy;
  }
  const { orderType } = message;
  if (typeof orderType === 'string') {
    message['orderType'] =
      ORDER_TYPES.find((type) => type.toLowerCase() === orderType.toLowerCase()) ?? orderType;
  }
  return message;
}

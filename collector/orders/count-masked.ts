import type { RowBundle } from '../../schemas/rows.ts';
import { isMasked } from '../decode/grammar.ts';
import type { Instruments } from '../telemetry/instruments.ts';

/** The columns in which a fingerprint may stand, by table. */
const FIELDS = {
  historyEvents: ['action'],
  callbackDeliveries: ['external_id', 'status', 'delivery_id'],
  orderObservations: ['status', 'external_transaction_id', 'channel'],
  rejects: ['content', 'gateway'],
} as const;

/**
 * Counts the texts that were stored as their fingerprints: that of an item, order or callback once for each
 * row.
 */
export function countMasked(bundle: RowBundle, { maskedTexts }: Instruments): void {
  for (const [table, fields] of Object.entries(FIELDS)) {
    const rows = (bundle[table as keyof typeof FIELDS] ?? []) as readonly Record<string, unknown>[];
    for (const row of rows) {
      for (const field of fields) {
        const text = row[field];
        if (typeof text === 'string' && isMasked(text)) maskedTexts.add(1, { field });
      }
    }
  }
}

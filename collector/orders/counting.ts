import type { RowBundle } from '../../schemas/rows.ts';
import { NO_CAUSE } from '../../schemas/signature-causes.ts';
import type { Provenance, RowSink } from '../../schemas/sink.ts';
import { isMasked } from '../decode/grammar.ts';
import type { Instruments } from '../telemetry/instruments.ts';
import type { ReportCounters } from '../telemetry/report-counters.ts';
import type { OrdersContext } from './context.ts';

/** Writes to the sink and counts what is written: the one place where rows become metrics. */
export function countedWrite(
  sink: Pick<RowSink, 'write'>,
  instruments: Instruments,
  counters: Pick<ReportCounters, 'acknowledged'>,
): OrdersContext['write'] {
  return async (bundle, provenance) => {
    countTaken(bundle, provenance, instruments);
    await sink.write(bundle, provenance);
    counters.acknowledged(bundle);
    countMasked(bundle, instruments);
  };
}

/**
 * Counts what was taken in. Callbacks of our own intake are counted there, since with Kafka they come by here
 * as its records.
 */
export function countTaken(bundle: RowBundle, { kafkaRecords }: Provenance, instruments: Instruments): void {
  if (kafkaRecords !== undefined) instruments.received.add(kafkaRecords, { source: 'kafka' });
  for (const { gateway, verdict, signature_cause: cause } of bundle.callbackDeliveries ?? []) {
    instruments.callbacks.add(1, { verdict });
    if (cause !== NO_CAUSE) instruments.signatureCauses.add(1, { gateway, cause });
  }
  for (const { reason } of bundle.rejects ?? []) instruments.rejects.add(1, { reason });
  for (const event of bundle.historyEvents ?? []) instruments.decoded.add(1, { format: event.code_format });
  for (const poll of bundle.polls ?? []) {
    const { gateway, outcome, cause, news } = poll;
    instruments.received.add(1, { source: 'poller' });
    instruments.polls.add(1, { gateway, outcome });
    instruments.reads.add(1, { gateway, cause, news });
    instruments.pollLateness.record(poll.lateness_ms / 1000, { gateway });
    instruments.pollDuration.record(poll.duration_ms / 1000, { gateway });
    if (outcome === 'ok') instruments.duplicatesAbsorbed.add(poll.items - poll.new_items);
  }
}

/** The columns that may hold a fingerprint, by table. */
const MASKABLE = {
  historyEvents: ['action'],
  callbackDeliveries: ['external_id', 'status', 'delivery_id'],
  orders: ['status', 'external_transaction_id', 'channel'],
  rejects: ['content', 'gateway'],
} as const;

/** Counts the texts that are stored as their fingerprints: those of an item, order or callback once a row. */
export function countMasked(bundle: RowBundle, { maskedTexts }: Instruments): void {
  for (const [table, fields] of Object.entries(MASKABLE)) {
    const rows = (bundle[table as keyof typeof MASKABLE] ?? []) as readonly Record<string, unknown>[];
    for (const row of rows) {
      for (const field of fields) {
        const text = row[field];
        if (typeof text === 'string' && isMasked(text)) maskedTexts.add(1, { field });
      }
    }
  }
}

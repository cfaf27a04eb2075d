import { type Link, type Span, TraceFlags } from '@opentelemetry/api';
import type { KafkaRecord } from '../../schemas/kafka.ts';
import type { TableKey } from '../../schemas/names.ts';
import { OWN_ATTRIBUTES as A } from '../../schemas/own-spans.ts';
import { endpointOf, type HttpReply } from '../../schemas/polling.ts';
import type { SpanRef } from '../../schemas/span.ts';
import type { WatchedOrder } from '../../schemas/watch.ts';
import { fail, withSpan } from './own-spans.ts';

interface StatusReader {
  read(order: WatchedOrder, deadlineMs?: number): Promise<HttpReply>;
  close(): Promise<void>;
}

/**
 * Status requests with a span each, linked to the trace of the order; the reply names the order.
 * @param spanOf null: the order's own id is not known yet
 */
export function tracedReader<G extends { readonly name: string }>(
  make: (gateway: G) => StatusReader,
  spanOf: (order: WatchedOrder) => SpanRef | null,
): (gateway: G) => StatusReader {
  return (gateway) => {
    const reader = make(gateway);
    return {
      close: () => reader.close(),
      read: (order, deadlineMs) =>
        withSpan(
          'statusRead',
          { [A.gateway]: gateway.name, [A.endpoint]: endpointOf(order) },
          async (span) => {
            // Only now: most spans are not recorded, and an id costs a hash.
            if (span.isRecording()) span.addLinks(linksTo(spanOf(order)));
            const reply = await reader.read(order, deadlineMs);
            span.setAttributes({ [A.outcome]: reply.outcome, [A.bytes]: reply.bodyBytes });
            if (reply.httpStatus !== null) span.setAttribute(A.httpStatus, reply.httpStatus);
            if (reply.errorType !== '') fail(span, reply.errorType);
            return span.isRecording() ? { ...reply, ownSpan: refOf(span) } : reply;
          },
        ),
    };
  };
}

function refOf(span: Span): SpanRef {
  const { traceId, spanId } = span.spanContext();
  return { traceId, spanId };
}

function linksTo(order: SpanRef | null): Link[] {
  return order === null ? [] : [{ context: { ...order, traceFlags: TraceFlags.SAMPLED } }];
}

interface Inserts {
  insertFrozen(
    insert: { readonly table: TableKey; readonly rows: readonly object[] },
    signal?: AbortSignal,
  ): Promise<void>;
}

/** Inserts with a span each. */
export function tracedInserts<S extends Inserts>(store: S): S {
  const insertFrozen: Inserts['insertFrozen'] = (insert, signal) =>
    withSpan('insert', { [A.table]: insert.table, [A.rows]: insert.rows.length }, () =>
      store.insertFrozen(insert, signal),
    );
  return { ...store, insertFrozen };
}

/** Batches of Kafka records with a span each. */
export function tracedBatches<Rest extends readonly unknown[]>(
  handle: (records: readonly KafkaRecord[], ...rest: Rest) => Promise<void>,
): (records: readonly KafkaRecord[], ...rest: Rest) => Promise<void> {
  return (records, ...rest) =>
    withSpan('kafkaBatch', { [A.topic]: records[0]?.topic ?? '', [A.records]: records.length }, () =>
      handle(records, ...rest),
    );
}

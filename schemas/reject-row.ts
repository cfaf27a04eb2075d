import type { OrderType } from './dictionary.ts';
import type { Coordinates } from './kafka.ts';
import type { Problem } from './problem.ts';
import type { EpochMicros, RejectReason, RejectRow } from './rows.ts';

/** A piece of input that was refused, with all that may be kept of it. */
export interface Reject {
  /** As a row may keep it; '' when it is not known. */
  readonly gateway: string;
  readonly reason: RejectReason;
  /** Equal for the same fault of the same input, however often that is read. */
  readonly rejectId: string;
  readonly rejectedAt: EpochMicros;
  readonly source: string;
  readonly problem: Problem;
  /** @default '' */
  readonly content?: string;
  /** Where the input lies in Kafka. @default null */
  readonly coordinates?: Coordinates | null;
  /** @default '' */
  readonly deliveryId?: string;
  /** @default null */
  readonly orderType?: OrderType | null;
  /** @default null */
  readonly orderId?: string | null;
}

/** The row of `rejects` that stands for it. */
export function rejectRow(reject: Reject): RejectRow {
  const { problem, coordinates } = reject;
  return {
    gateway: reject.gateway,
    reason: reject.reason,
    reject_id: reject.rejectId,
    rejected_at: reject.rejectedAt,
    source: reject.source,
    field: problem.field,
    expected: problem.expected,
    received: problem.received,
    content: reject.content ?? '',
    topic: coordinates?.topic ?? '',
    kafka_partition: coordinates?.partition ?? null,
    kafka_offset: coordinates?.offset ?? null,
    delivery_id: reject.deliveryId ?? '',
    order_type: reject.orderType ?? null,
    order_id: reject.orderId ?? null,
  };
}

import type { EpochMicros } from '../../schemas/rows.ts';
import type { PollCause, WatchRef } from '../../schemas/watch.ts';
import type { OrderFacts } from './advance.ts';

/** What named an order. A callback has it read before all that is merely due. */
export type HintCause = Extract<PollCause, 'callback' | 'watch'>;

/** A callback or a watch message names an order that is to be read, and may state facts about it. */
export interface OrderHint extends WatchRef, Omit<OrderFacts, 'rootSent'> {
  readonly cause: HintCause;
  /** What a callback says; it never becomes the order's status. */
  readonly status?: string | undefined;
  /** When the callback was received. */
  readonly calledAt?: EpochMicros | undefined;
}

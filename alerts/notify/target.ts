import type { Alert } from '../explain/alert.ts';
import type { NoticeBook } from './notice-book.ts';
import type { PostOptions, PostOutcome } from './post.ts';

/** Somebody who is told of alerts. */
export interface AlertTarget {
  readonly name: 'alertmanager' | 'webhook';
  /**
   * Takes all alerts that fire or have lately ended, after every evaluation; what is news is the target's own
   * affair.
   * @throws GatewatchError `export_failed` when it does not accept them; the next call offers them again
   */
  send(alerts: readonly Alert[], now: number): Promise<void>;
}

export interface TargetOptions extends PostOptions {
  /** What receivers were told, kept over a restart. @default in memory only */
  readonly notices?: NoticeBook;
  /** Told of each request. */
  readonly onOutcome?: (target: AlertTarget['name'], outcome: PostOutcome['kind']) => void;
}

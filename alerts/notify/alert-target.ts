import type { Alert } from '../explain/alert.ts';
import type { NotificationStore } from './notification-store.ts';
import type { PostOptions, PostOutcome } from './post.ts';

/** A receiver of alerts. */
export interface AlertTarget {
  readonly name: 'alertmanager' | 'webhook';
  /**
   * Takes all alerts that fire or have lately ended, after every evaluation; the target finds out
   * itself what has changed.
   * @throws GatewatchError `export_failed` when it does not accept them; the next call offers them again
   */
  send(alerts: readonly Alert[], now: number): Promise<void>;
}

export interface TargetOptions extends PostOptions {
  /** What receivers know, kept over a restart. @default in memory only */
  readonly notifications?: NotificationStore;
  /** Called with the outcome of each request. */
  readonly onOutcome?: (target: AlertTarget['name'], outcome: PostOutcome['kind']) => void;
}

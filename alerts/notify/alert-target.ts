import type { Silence } from '../../schemas/silence.ts';
import type { Alert } from '../explain/alert.ts';
import type { NotificationStore } from './notification-store.ts';
import type { PostOptions, PostOutcome } from './post.ts';

/** A receiver of alerts. */
export interface AlertTarget {
  readonly name: 'alertmanager' | 'webhook';
  /**
   * Takes all alerts that fire or have lately ended, after every evaluation; the target finds out
   * itself what has changed. Of those that are held back it notifies nobody.
   *
   * @param silences what holds alerts back, for a target that keeps silences itself; null: not known
   * @throws GatewatchError `export_failed` when it does not accept them; the next call offers them again
   */
  send(alerts: readonly Alert[], now: number, silences?: readonly Silence[] | null): Promise<void>;
}

export interface TargetOptions extends PostOptions {
  /** What receivers know, kept over a restart. @default in memory only */
  readonly notifications?: NotificationStore;
  /** Called with the outcome of each request. */
  readonly onOutcome?: (target: AlertTarget['name'], outcome: PostOutcome['kind']) => void;
}

import type { AlertExplained, AlertsAnswer, ConsoleAlert } from '../../schemas/console.ts';
import { storeErrorText } from '../../store/store-error-text.ts';
import type { TableResult } from '../../store/store.ts';
import { incidentUrl } from '../explain/incident-url.ts';
import { runbookUrl } from '../explain/links.ts';
import type { Explainer } from '../explain/explainer.ts';
import { type Newest, type NewestAlert, readNewest } from './newest.ts';

export interface AlertsNowOptions {
  readonly query: (sql: string) => Promise<TableResult>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  /** The reader's, for times beside UTC. @default 'UTC' */
  readonly timeZone?: string;
  /** How long requests share what was read; rows come once a minute. @default 10,000 */
  readonly keepMs?: number;
  /** @default nothing is explained */
  readonly explainer?: Pick<Explainer, 'of' | 'learn'>;
}

/**
 * How the alert rules stand, for a page that asks often: the newest evaluations and states, by one statement
 * that requests within `keepMs` share. While the store does not answer, it is what was read before,
 * with its age and the error. Never rejects.
 */
export function createAlertsNow(options: AlertsNowOptions): () => Promise<AlertsAnswer> {
  const { query, now, monotonicMs, timeZone = 'UTC', keepMs = 10_000, explainer } = options;
  let newest: Newest = { asOf: null, alerts: [] };
  let error: string | null = null;
  let reading: Promise<void> | null = null;
  let readAgainAt = -Infinity;

  async function read(): Promise<void> {
    try {
      newest = await readNewest(query, { atMs: now(), notable: true, timeZone });
      error = null;
      explainer?.learn(newest.alerts);
    } catch (failure) {
      error = storeErrorText(failure);
    }
    readAgainAt = monotonicMs() + keepMs;
  }

  return async () => {
    if (monotonicMs() >= readAgainAt) reading ??= read().finally(() => (reading = null));
    await reading;
    const { asOf } = newest;
    return {
      alerts: newest.alerts.map((alert) => toConsoleAlert(alert, explainer?.of(alert) ?? null)),
      asOf,
      ageMs: asOf === null ? null : Math.max(0, now() - asOf),
      error,
      timeZone,
    };
  };
}

function toConsoleAlert(alert: NewestAlert, explained: AlertExplained | null): ConsoleAlert {
  const { line } = alert;
  const { numbers } = line;
  const url = numbers === null ? null : incidentUrl(alert, numbers);
  return {
    ...line,
    panelUrl: url,
    ordersUrl: numbers?.kind === 'gauge' ? null : url,
    runbookUrl: runbookUrl(line.rule),
    explained,
  };
}

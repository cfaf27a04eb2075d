import type { RetentionConfig } from '../schemas/config.ts';
import type { RetentionDays } from './retention.ts';

/**
 * Days by kind of row, from the settings: what belongs to an order's history is kept as long as the history.
 */
export function retentionDays(config: RetentionConfig): RetentionDays {
  const { historyDays, pollsDays, rejectsDays, statusDays } = config;
  return {
    historyDays,
    ordersDays: historyDays,
    callbacksDays: historyDays,
    pollsDays,
    rejectsDays,
    statusDays,
    annotationsDays: historyDays,
    watchDays: historyDays,
    ledgerDays: historyDays,
  };
}

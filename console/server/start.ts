import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../../schemas/clock.ts';
import type { TableResult } from '../../store/store.ts';
import { createConsole, type AlertsNow, type OpenDesk } from './console.ts';
import { openPage, type PageFiles } from './page-files.ts';
import { consoleRoutes } from './routes.ts';
import { createStore } from '../../store/store.ts';
import type { OpenedStore } from '../../store/open.ts';
import { ALERT_DASHBOARDS_FOLDER, DASHBOARDS_FOLDER, PAGE_FOLDER } from '../../store/package-files.ts';

/** Beyond what a panel can show or a person waits for. A server's own limits may be lower. */
const LIMITS = {
  max_execution_time: 15,
  max_result_rows: 100_000,
  max_result_bytes: 64 * 1024 ** 2,
  result_overflow_mode: 'throw',
  // The statements come from files, with values in them that people choose: whatever those are, nothing is
  // written.
  readonly: 2,
} as const;

export interface RunningConsole {
  /** Null when the package lacks the page. */
  readonly site: {
    /** Adds the page, its files and their interface to an HTTP server. */
    addRoutes(app: FastifyInstance): void;
    /** Where a browser that opens `/` is sent. */
    readonly landing: () => Promise<string>;
  } | null;
  stop(): Promise<void>;
}

/**
 * The console over a connection of its own: the embedded store's reader, or the configured user, who then
 * only reads.
 */
export function startConsole(
  opened: OpenedStore,
  clock: Clock,
  { alerts, desk }: { readonly alerts: AlertsNow; readonly desk: OpenDesk },
  log: Logger,
): RunningConsole {
  const stopped = new AbortController();
  const page = findPage(log, stopped.signal);
  const { url, database, reader } = opened;
  const store = createStore({ url, database, ...reader, requestTimeoutMs: 20_000 });
  const query = async (sql: string): Promise<TableResult> =>
    JSON.parse(await store.queryText(sql, 'JSON', undefined, LIMITS)) as TableResult;
  const console = createConsole({
    dashboardsFolder: DASHBOARDS_FOLDER,
    linkedFolder: ALERT_DASHBOARDS_FOLDER,
    alerts,
    desk,
    query,
    now: () => clock.now() / 1000,
    monotonicMs: clock.monotonicMs,
    log,
  });
  return {
    site:
      page === null
        ? null
        : { addRoutes: (app) => consoleRoutes(app, { console, page, log }), landing: console.landing },
    stop() {
      stopped.abort();
      return store.close();
    },
  };
}

function findPage(log: Logger, signal: AbortSignal): (() => Promise<PageFiles>) | null {
  try {
    return openPage({ folder: PAGE_FOLDER, signal });
  } catch (error) {
    log.error({ err: error }, 'the console cannot be served');
    return null;
  }
}

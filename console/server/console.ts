import type { Logger } from 'pino';
import type { z } from 'zod';
import type {
  AlertsAnswer,
  AnnotationsAnswer,
  ConsoleAnnotation,
  ConsoleFrame,
  DashboardSummary,
  PanelAnswer,
  VariableOption,
  VariablesAnswer,
} from '../../schemas/console.ts';
import type { TableResult } from '../../store/store.ts';
import type { VariableValues } from '../../store/macros.ts';
import { findPanel, readDashboards, variableSql, withoutSql, type DashboardFile } from './dashboard-files.ts';
import { toFrame } from './frame.ts';
import { createHome } from './home.ts';
import { intervalFor } from './interval.ts';
import { problemText } from '../../store/problem-text.ts';
import { createQueryPool } from './query-pool.ts';
import type { panelRequestSchema, scopeSchema } from './requests.ts';
import { chosenValues, statementOf } from './statement.ts';

export interface ConsoleOptions {
  /** Folder of classic dashboard JSON. */
  readonly dashboardsFolder: string;
  /** Folder of dashboards that only links lead to: they are shown, and not listed. @default none */
  readonly linkedFolder?: string;
  /** How the alert rules stand now. */
  readonly alerts: AlertsNow;
  /** Runs one SELECT with a reader's rights and limits: ClickHouse's `FORMAT JSON`. */
  readonly query: (sql: string) => Promise<TableResult>;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly log: Logger;
}

/** Gives how the alert rules stand, by queries that wait their turn among those of the panels. */
export type AlertsNow = (
  source: Pick<ConsoleOptions, 'query' | 'now' | 'monotonicMs'>,
) => () => Promise<AlertsAnswer>;

type Scope = z.infer<typeof scopeSchema>;

/**
 * What the page asks of the server. Everything takes ids and chosen values; the SQL is that of the
 * dashboards' files.
 */
export interface Console {
  dashboards(): DashboardSummary[];
  /** A dashboard as generated, without SQL; null when there is none. */
  dashboard(uid: string): unknown;
  panel(request: z.infer<typeof panelRequestSchema>): Promise<Asked<PanelAnswer>>;
  variables(scope: Scope): Promise<Asked<VariablesAnswer>>;
  annotations(scope: Scope): Promise<Asked<AnnotationsAnswer>>;
  alerts(): Promise<AlertsAnswer>;
  /** The address that a browser is sent to from `/`. Never rejects. */
  home(): Promise<string>;
}

/** An answer, or why the question makes none. */
export type Asked<T> = { readonly answer: T } | { readonly status: 400 | 404; readonly problem: string };

/** Width of buckets where no panel asks: variables and annotations. */
const PLAIN_INTERVAL_MS = 60_000;

export function createConsole(options: ConsoleOptions): Console {
  const { log, now, monotonicMs } = options;
  const listed = boardsOf(options.dashboardsFolder, log);
  const linked = options.linkedFolder === undefined ? [] : boardsOf(options.linkedFolder, log);
  const boards = new Map([...linked, ...listed]);
  const query = createQueryPool<TableResult>({ run: options.query, now: monotonicMs });
  const alerts = options.alerts({ query, now, monotonicMs });

  async function within<T>(
    scope: Scope,
    run: (board: DashboardFile, values: VariableValues) => Promise<Asked<T>>,
  ): Promise<Asked<T>> {
    const board = boards.get(scope.dashboard);
    if (board === undefined) return { status: 404, problem: 'no such dashboard' };
    const chosen = chosenValues(board, scope.variables);
    return 'problem' in chosen ? { status: 400, problem: chosen.problem } : run(board, chosen.values);
  }

  const ask = (
    sql: string,
    { from, to }: Scope,
    intervalMs: number,
    values: VariableValues,
  ): Promise<TableResult> =>
    query(statementOf(sql, { from: new Date(from), to: new Date(to), intervalMs }, values));

  /** Runs it; a failure becomes its text. */
  async function attempt<T>(what: object, run: () => Promise<T>): Promise<{ done: T } | { failed: string }> {
    try {
      return { done: await run() };
    } catch (error) {
      log.warn({ ...what, err: error }, 'a query of the console failed');
      return { failed: problemText(error) };
    }
  }

  return {
    dashboards: () =>
      [...listed.values()].map(({ uid, title, description, tags }) => ({ uid, title, description, tags })),

    dashboard(uid) {
      const board = boards.get(uid);
      return board === undefined ? null : withoutSql(board);
    },

    panel: (request) =>
      within(request, async (board, values) => {
        const panel = findPanel(board, request.panel);
        if (panel === null) return { status: 404, problem: 'no such panel' };
        const intervalMs = intervalFor(request.to - request.from, request.maxDataPoints, panel.interval);
        const frames: ConsoleFrame[] = [];
        const errors: string[] = [];
        const targets = (panel.targets ?? []).filter(({ hide }) => !hide);
        const results = await Promise.all(
          targets.map(({ rawSql = '' }) =>
            attempt({ panel: panel.id }, () => ask(rawSql, request, intervalMs, values)),
          ),
        );
        results.forEach((result, index) => {
          const target = targets[index];
          if (target === undefined) return;
          if ('done' in result) frames.push(toFrame(target.refId, target.format, result.done));
          else errors.push(targets.length > 1 ? `${target.refId}: ${result.failed}` : result.failed);
        });
        return { answer: { frames, intervalMs, error: errors.length === 0 ? null : errors.join('; ') } };
      }),

    variables: (scope) =>
      within(scope, async (board, values) => {
        const found: Record<string, VariableOption[]> = {};
        const errors: Record<string, string> = {};
        await Promise.all(
          board.templating.list.map(async (variable) => {
            const sql = variableSql(variable);
            if (sql === null) return;
            const result = await attempt({ variable: variable.name }, () =>
              ask(sql, scope, PLAIN_INTERVAL_MS, values),
            );
            if ('done' in result) found[variable.name] = optionsOf(result.done);
            else errors[variable.name] = result.failed;
          }),
        );
        return { answer: { options: found, errors } };
      }),

    annotations: (scope) =>
      within(scope, async (board, values) => {
        const annotations: ConsoleAnnotation[] = [];
        const errors: string[] = [];
        for (const { name, enable, iconColor, target } of board.annotations.list) {
          const sql = target?.rawSql;
          if (!enable || sql === undefined) continue;
          const result = await attempt({ annotation: name }, () =>
            ask(sql, scope, PLAIN_INTERVAL_MS, values),
          );
          if ('done' in result) annotations.push(...annotationsOf(result.done, iconColor));
          else errors.push(`${name}: ${result.failed}`);
        }
        return { answer: { annotations, errors } };
      }),

    alerts,
    home: createHome({ query, now }),
  };
}

/** A package without dashboards is broken, and yet no reason to stop collecting. */
function boardsOf(folder: string, log: Logger): ReadonlyMap<string, DashboardFile> {
  try {
    return readDashboards(folder);
  } catch (error) {
    log.error({ err: error }, 'the console has no dashboards to show');
    return new Map();
  }
}

/** One column is value and text; of two the second is the text, as the plugin has it. */
function optionsOf(result: TableResult): VariableOption[] {
  const { columns } = toFrame('', 1, result);
  const [values, texts = values] = columns;
  return (values?.values ?? []).map((value, row) => ({
    value: String(value ?? ''),
    text: String(texts?.values[row] ?? ''),
  }));
}

function annotationsOf(result: TableResult, colour: string): ConsoleAnnotation[] {
  const { columns } = toFrame('', 1, result);
  const column = (name: string): readonly unknown[] => columns.find((one) => one.name === name)?.values ?? [];
  const text = (values: readonly unknown[], row: number): string => String(values[row] ?? '');
  const [ends, titles, texts, tags] = [column('timeEnd'), column('title'), column('text'), column('tags')];
  return column('time').flatMap((time, row) =>
    typeof time !== 'number'
      ? []
      : [
          {
            time,
            timeEnd: typeof ends[row] === 'number' && ends[row] > time ? ends[row] : null,
            title: text(titles, row),
            text: text(texts, row),
            tags: text(tags, row).split(',').filter(Boolean),
            colour,
          },
        ],
  );
}

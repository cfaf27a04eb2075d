import type { Logger } from 'pino';
import type { z } from 'zod';
import type {
  AlertsAnswer,
  AnnotationsAnswer,
  ConsoleAnnotation,
  ConsoleFrame,
  DashboardSummary,
  IncidentsAnswer,
  PanelAnswer,
  VariableOption,
  VariablesAnswer,
} from '../../schemas/console.ts';
import type { Silence } from '../../schemas/silence.ts';
import type { TableResult } from '../../store/store.ts';
import type { VariableValues } from '../../store/macros.ts';
import { findPanel, readDashboards, variableSql, withoutSql, type DashboardFile } from './dashboard-files.ts';
import { toFrame } from './frame.ts';
import { intervalFor } from './interval.ts';
import { createLanding } from './landing.ts';
import { storeErrorText } from '../../store/store-error-text.ts';
import { createQueryPool, type PooledQuery } from './query-pool.ts';
import type { panelRequestSchema, scopeSchema } from './request-schemas.ts';
import { chosenValues, statementOf } from './statement.ts';

export interface ConsoleOptions {
  /** Folder of classic dashboard JSON. */
  readonly dashboardsFolder: string;
  /** Folder of dashboards that only links lead to: they are shown, and not listed. @default none */
  readonly linkedFolder?: string;
  /** How the alert rules stand now. */
  readonly alerts: AlertsNow;
  /** Incidents, and what people say to them. */
  readonly desk: OpenDesk;
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

/** Incidents, and the silences and acknowledgements that people write from the page. */
export interface Desk {
  /** Of so many days until now; of 0 days those that run. */
  incidents(days: number): Promise<IncidentsAnswer>;
  silence(request: unknown): Promise<Asked<Silence>>;
  unsilence(id: string): Promise<Asked<Silence>>;
}
export type OpenDesk = (source: Pick<ConsoleOptions, 'query' | 'now'>) => Desk;

type Scope = z.infer<typeof scopeSchema>;
type PanelScope = z.infer<typeof panelRequestSchema>;

/**
 * What the page asks of the server. Everything takes ids and chosen values; the SQL is that of the
 * dashboards' files.
 */
export interface Console extends Desk {
  dashboards(): DashboardSummary[];
  /** A dashboard as generated, without SQL; null when there is none. */
  dashboard(uid: string): unknown;
  panel(request: PanelScope, signal?: AbortSignal): Promise<Asked<PanelAnswer>>;
  variables(scope: Scope, signal?: AbortSignal): Promise<Asked<VariablesAnswer>>;
  annotations(scope: Scope, signal?: AbortSignal): Promise<Asked<AnnotationsAnswer>>;
  alerts(): Promise<AlertsAnswer>;
  /** The address that a browser is sent to from `/`. Never rejects. */
  landing(): Promise<string>;
}

/** An answer, or why the question makes none. */
export type Asked<T> =
  { readonly answer: T } | { readonly status: 400 | 404 | 503; readonly problem: string };

/** Width of buckets where no panel asks: variables and annotations. */
const PLAIN_INTERVAL_MS = 60_000;
/**
 * The place of what stands beside the panels, choices and marks over the plots: the first rows come before
 * it.
 */
const BESIDE = 10;

/** What every answer is made from. */
interface Parts {
  readonly boards: ReadonlyMap<string, DashboardFile>;
  readonly query: PooledQuery<TableResult>;
  readonly log: Logger;
}

/** A question about a dashboard that exists, with values for all of its variables. */
interface Question extends Parts {
  readonly board: DashboardFile;
  readonly values: VariableValues;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Aborted when the asker has gone. */
  readonly signal: AbortSignal | undefined;
}

export function createConsole(options: ConsoleOptions): Console {
  const { log, now, monotonicMs } = options;
  const listed = boardsOf(options.dashboardsFolder, log);
  const linked = options.linkedFolder === undefined ? [] : boardsOf(options.linkedFolder, log);
  const query = createQueryPool<TableResult>({ run: options.query, now: monotonicMs });
  const parts: Parts = { boards: new Map([...linked, ...listed]), query, log };
  const desk = options.desk({ query, now });
  return {
    ...desk,
    dashboards: () =>
      [...listed.values()].map(({ uid, title, description, tags }) => ({ uid, title, description, tags })),
    dashboard(uid) {
      const board = parts.boards.get(uid);
      return board === undefined ? null : withoutSql(board);
    },
    panel: (request, signal) =>
      withQuestion({ ...parts, signal }, request, (question) => answerPanel(question, request)),
    variables: (scope, signal) => withQuestion({ ...parts, signal }, scope, answerVariables),
    annotations: (scope, signal) => withQuestion({ ...parts, signal }, scope, answerAnnotations),
    alerts: options.alerts({ query, now, monotonicMs }),
    landing: createLanding({ query, now }),
  };
}

async function withQuestion<T>(
  parts: Parts & Pick<Question, 'signal'>,
  { dashboard, from, to, variables }: Scope,
  answer: (question: Question) => Promise<Asked<T>>,
): Promise<Asked<T>> {
  const board = parts.boards.get(dashboard);
  if (board === undefined) return { status: 404, problem: 'no such dashboard' };
  const chosen = chosenValues(board, variables);
  if ('problem' in chosen) return { status: 400, problem: chosen.problem };
  return answer({ ...parts, board, values: chosen.values, from, to });
}

async function answerPanel(question: Question, request: PanelScope): Promise<Asked<PanelAnswer>> {
  const panel = findPanel(question.board, request.panel);
  if (panel === null) return { status: 404, problem: 'no such panel' };
  const intervalMs = intervalFor(question.to - question.from, request.maxDataPoints, panel.interval);
  const targets = (panel.targets ?? []).filter(({ hide }) => !hide);
  const results = await Promise.all(
    targets.map(async (target) => {
      const result = await run(
        question,
        { panel: panel.id },
        target.rawSql ?? '',
        intervalMs,
        panel.gridPos.y,
      );
      return { ...target, result };
    }),
  );
  const frames: ConsoleFrame[] = [];
  const errors: string[] = [];
  for (const { refId, format, result } of results)
    if ('done' in result) frames.push(toFrame(refId, format, result.done));
    else errors.push(targets.length > 1 ? `${refId}: ${result.failed}` : result.failed);
  return { answer: { frames, intervalMs, error: errors.length === 0 ? null : errors.join('; ') } };
}

async function answerVariables(question: Question): Promise<Asked<VariablesAnswer>> {
  const options: Record<string, VariableOption[]> = {};
  const errors: Record<string, string> = {};
  await Promise.all(
    question.board.templating.list.map(async (variable) => {
      const sql = variableSql(variable);
      if (sql === null) return;
      const result = await run(question, { variable: variable.name }, sql, PLAIN_INTERVAL_MS, BESIDE);
      if ('done' in result) options[variable.name] = optionsOf(result.done);
      else errors[variable.name] = result.failed;
    }),
  );
  return { answer: { options, errors } };
}

async function answerAnnotations(question: Question): Promise<Asked<AnnotationsAnswer>> {
  const annotations: ConsoleAnnotation[] = [];
  const errors: string[] = [];
  for (const { name, enable, iconColor, target } of question.board.annotations.list) {
    const sql = target?.rawSql;
    if (!enable || sql === undefined) continue;
    const result = await run(question, { annotation: name }, sql, PLAIN_INTERVAL_MS, BESIDE);
    if ('done' in result) annotations.push(...annotationsOf(result.done, iconColor));
    else errors.push(`${name}: ${result.failed}`);
  }
  return { answer: { annotations, errors } };
}

/**
 * Runs a statement of the dashboard's file; a failure becomes its text.
 * @param what asks, for the log
 * @param place how far down the page, in rows of the grid
 */
async function run(
  { query, log, values, from, to, signal }: Question,
  what: object,
  sql: string,
  intervalMs: number,
  place: number,
): Promise<{ done: TableResult } | { failed: string }> {
  try {
    const statement = statementOf(sql, { from: new Date(from), to: new Date(to), intervalMs }, values);
    return { done: await query(statement, { signal, place }) };
  } catch (error) {
    if (signal?.aborted !== true) log.warn({ ...what, err: error }, 'a query of the console failed');
    return { failed: storeErrorText(error) };
  }
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
};

/** The dashboards' statement gives texts as HTML, which Grafana reads; the console shows plain text. */
const withoutEntities = (html: string): string =>
  html.replace(/&(?:lt|gt|amp|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity);

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
            title: withoutEntities(text(titles, row)),
            text: withoutEntities(text(texts, row)),
            tags: text(tags, row).split(',').filter(Boolean),
            colour,
          },
        ],
  );
}

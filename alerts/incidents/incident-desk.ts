import type { IncidentsAnswer } from '../../schemas/console.ts';
import { isRetryable } from '../../schemas/errors.ts';
import type { Incident } from '../../schemas/incident.ts';
import { problemText } from '../../schemas/problem.ts';
import type { Silence } from '../../schemas/silence.ts';
import { storeErrorText } from '../../store/store-error-text.ts';
import type { Store, TableResult } from '../../store/store.ts';
import { SIDE_TEXT } from '../explain/page.ts';
import type { Side } from '../rules/rule.ts';
import { checkSilenceRequest } from '../silences/request.ts';
import { silenceOf } from '../silences/silence.ts';
import { addSilence, endSilence, readSilences } from '../silences/silence-store.ts';
import { readIncidents } from './read-incidents.ts';

export interface IncidentDeskOptions {
  readonly query: (sql: string) => Promise<TableResult>;
  /** With the writer's rights. */
  readonly store: Pick<Store, 'insert'>;
  /** Names of the configured gateways. */
  readonly gateways: readonly string[];
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The reader's, for times beside UTC. @default 'UTC' */
  readonly timeZone?: string;
}

/** What became of a request of the page. */
export type DeskAnswer =
  { readonly answer: Silence } | { readonly status: 400 | 404 | 503; readonly problem: string };

/** Incidents, and what people say to them, for a page that asks often. */
export interface IncidentDesk {
  /** The incidents of so many days until now; of 0 days those that run. Never rejects. */
  incidents(days: number): Promise<IncidentsAnswer>;
  /** Stores what is asked for. */
  silence(request: unknown): Promise<DeskAnswer>;
  unsilence(id: string): Promise<DeskAnswer>;
}

const DAY_MS = 86_400_000;
/** Requests share an answer for so long. */
const KEEP_MS = 5_000;

export function createIncidentDesk(options: IncidentDeskOptions): IncidentDesk {
  const { query, store, gateways, timeZone = 'UTC' } = options;
  const now = (): number => Math.floor(options.now());
  const answers = new Map<number, { readonly at: number; readonly answer: Promise<IncidentsAnswer> }>();

  async function read(days: number): Promise<IncidentsAnswer> {
    const nowMs = now();
    try {
      const [incidents, silences] = await Promise.all([
        readIncidents(query, { fromMs: nowMs - days * DAY_MS, toMs: nowMs }),
        readSilences(query, nowMs),
      ]);
      const wanted = days === 0 ? incidents.filter(({ endedAt }) => endedAt === null) : incidents;
      const shown = wanted.map((incident) => shownIncident(incident, silences, nowMs));
      return { incidents: shown, silences, asOf: nowMs, timeZone, error: null };
    } catch (error) {
      return { incidents: [], silences: [], asOf: nowMs, timeZone, error: storeErrorText(error) };
    }
  }

  const changed = async (change: () => Promise<DeskAnswer>): Promise<DeskAnswer> => {
    try {
      return await change();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      return { status: 503, problem: 'The store does not answer at present. Try again later.' };
    } finally {
      answers.clear();
    }
  };

  return {
    incidents(days) {
      const before = answers.get(days);
      if (before !== undefined && now() - before.at < KEEP_MS) return before.answer;
      const answer = read(days);
      answers.set(days, { at: now(), answer });
      return answer;
    },
    silence: (request) =>
      changed(async () => {
        const checked = checkSilenceRequest(request, gateways);
        if (!checked.ok) return { status: 400, problem: problemText(checked.problem) };
        return { answer: await addSilence(store, checked.request, now()) };
      }),
    unsilence: (id) =>
      changed(async () => {
        const ended = await endSilence(query, store, id, now());
        return ended === null
          ? { status: 404, problem: 'No silence or acknowledgement of this id holds.' }
          : { answer: ended };
      }),
  };
}

/** An incident in words for people, with what is said to each of its alerts that still fires. */
const shownIncident = (
  incident: Incident,
  silences: readonly Silence[],
  nowMs: number,
): IncidentsAnswer['incidents'][number] => ({
  ...incident,
  sides: incident.sides.map((side) => SIDE_TEXT[side as Side] ?? side),
  alerts: incident.alerts.map((alert) => ({
    ...alert,
    held: alert.endedAt === null ? silenceOf(silences, alert, nowMs) : null,
  })),
});

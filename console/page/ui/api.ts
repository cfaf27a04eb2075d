import type {
  AlertsAnswer,
  AnnotationsAnswer,
  ConsoleScope,
  DashboardSummary,
  IncidentsAnswer,
  PanelAnswer,
  PanelRequest,
  VariablesAnswer,
} from '../../../schemas/console.ts';
import type { Silence } from '../../../schemas/silence.ts';
import type { HoldRequest } from '../model/incidents.ts';
import type { Dashboard } from '../model/types.ts';

/** The collector's answers. Ids and chosen values go there, never SQL. */
export const api = {
  dashboards: (): Promise<DashboardSummary[]> => get('/console/api/dashboards'),
  dashboard: (uid: string): Promise<Dashboard> => get(`/console/api/dashboards/${encodeURIComponent(uid)}`),
  alerts: (signal: AbortSignal): Promise<AlertsAnswer> => get('/console/api/alerts', signal),
  /** Of so many days until now; of 0 days those that run. */
  incidents: (days: number, signal: AbortSignal): Promise<IncidentsAnswer> =>
    get(`/console/api/incidents?days=${days}`, signal),
  /** Silences or acknowledges. */
  hold: (request: HoldRequest): Promise<Silence> => post('/console/api/silences', request),
  release: (id: string): Promise<Silence> =>
    read(fetch(`/console/api/silences/${encodeURIComponent(id)}`, { method: 'DELETE' })),
  panel: (request: PanelRequest, signal: AbortSignal): Promise<PanelAnswer> =>
    post('/console/api/query', request, signal),
  variables: (scope: ConsoleScope, signal: AbortSignal): Promise<VariablesAnswer> =>
    post('/console/api/variables', scope, signal),
  annotations: (scope: ConsoleScope, signal: AbortSignal): Promise<AnnotationsAnswer> =>
    post('/console/api/annotations', scope, signal),
};

const get = <T>(path: string, signal: AbortSignal | null = null): Promise<T> => read(fetch(path, { signal }));
const post = <T>(path: string, body: unknown, signal: AbortSignal | null = null): Promise<T> =>
  read(
    fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    }),
  );

async function read<T>(answer: Promise<Response>): Promise<T> {
  let response: Response;
  try {
    response = await answer;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Error('The collector does not answer.', { cause: error });
  }
  if (response.ok) return (await response.json()) as T;
  const problem = (await response.json().catch(() => ({}))) as { title?: string; detail?: string };
  throw new Error(problem.detail ?? problem.title ?? `The collector answered ${response.status}.`);
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

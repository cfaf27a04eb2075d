/** The collector's answers. Ids and chosen values go there, never SQL. */
export const api = {
  dashboards: ()                              => get('/console/api/dashboards'),
  dashboard: (uid        )                     => get(`/console/api/dashboards/${encodeURIComponent(uid)}`),
  alerts: (signal             )                        => get('/console/api/alerts', signal),
  panel: (request              , signal             )                       =>
    post('/console/api/query', request, signal),
  variables: (scope              , signal             )                           =>
    post('/console/api/variables', scope, signal),
  annotations: (scope              , signal             )                             =>
    post('/console/api/annotations', scope, signal),
};

const get =    (path        , signal                     = null)             => read(fetch(path, { signal }));
const post =    (path        , body         , signal             )             =>
  read(
    fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    }),
  );

async function read   (answer                   )             {
  let response          ;
  try {
    response = await answer;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Error('The collector does not answer.', { cause: error });
  }
  if (response.ok) return (await response.json())     ;
  const problem = (await response.json().catch(() => ({})))                                       ;
  throw new Error(problem.detail ?? problem.title ?? `The collector answered ${response.status}.`);
}

export const isAbort = (error         )          =>
  error instanceof DOMException && error.name === 'AbortError';

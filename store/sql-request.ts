import { GatewatchError } from '../schemas/errors.ts';
import type { Login } from './open.ts';

export interface SqlRequest {
  readonly url: string;
  readonly database: string;
  readonly login: Login;
  readonly statement: string;
  /** Used unless the statement has a FORMAT of its own. */
  readonly format: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Sends a person's statement to ClickHouse as it is and gives the result as it comes, however large. Unlike
 * the store's own errors, these quote ClickHouse: the statement is the user's.
 * @throws GatewatchError `store_refused` with ClickHouse's text, or `store_unavailable`
 */
export async function* sendSql(request: SqlRequest): AsyncGenerator<Uint8Array> {
  const response = await post(request);
  if (!response.ok) {
    const text = (await response.text()).trim();
    const code = Number(response.headers.get('x-clickhouse-exception-code'));
    const hint = HINTS[code];
    throw new GatewatchError(`${text}${hint === undefined ? '' : `\n${hint}`}`, { code: 'store_refused' });
  }
  if (response.body !== null) yield* response.body;
}

/** What to try, by ClickHouse's code. */
const HINTS: Readonly<Record<number, string>> = {
  60: '\'gatewatch sql "SHOW TABLES"\' lists what there is.',
  81: "The database is not there yet: 'gatewatch migrate' makes it, and so does 'gatewatch run'.",
  164: 'A reader may not do this: --write gives all rights.',
  497: 'A reader may not do this: --write gives all rights.',
};

async function post(request: SqlRequest): Promise<Response> {
  const url = new URL(request.url);
  url.searchParams.set('database', request.database);
  url.searchParams.set('default_format', request.format);
  // An error in the middle of the result would otherwise come after a good status.
  url.searchParams.set('wait_end_of_query', '1');
  for (const [name, value] of Object.entries(request.settings)) url.searchParams.set(name, value);
  try {
    return await fetch(url, {
      method: 'POST',
      body: request.statement,
      redirect: 'error',
      headers: {
        'x-clickhouse-user': request.login.username,
        'x-clickhouse-key': request.login.password.reveal(),
        'content-type': 'text/plain; charset=utf-8',
      },
    });
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code ?? 'no connection';
    throw new GatewatchError(`The store at ${url.origin} does not answer (${cause}).`, {
      code: 'store_unavailable',
      retryable: true,
      cause: error,
    });
  }
}

import { GatewatchError } from '../../schemas/errors.ts';

/** What became of one request with alerts. */
export type PostOutcome =
  | { readonly kind: 'accepted' }
  /** Refused for good: the same again would be refused again. */
  | { readonly kind: 'refused'; readonly status: number }
  /** Not taken now. `status` is null where no answer came: it may have been taken all the same. */
  | { readonly kind: 'failed'; readonly status: number | null; readonly cause?: unknown };

export interface PostOptions {
  /** One request, answer included, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
}

/** Answers of the 4xx range that speak of the moment and not of the request. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Posts JSON. Follows no redirect, so that neither alerts nor a token go where nobody configured them to go.
 * Never throws.
 */
export async function postJson(
  url: string,
  body: unknown,
  authorization: string | undefined,
  { timeoutMs = 10_000 }: PostOptions,
): Promise<PostOutcome> {
  let reply: Response;
  try {
    reply = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Nobody reads the answer's body, and a stranger could make it endless.
    await reply.body?.cancel();
  } catch (cause) {
    return { kind: 'failed', status: null, cause };
  }
  const { status } = reply;
  if (reply.ok) return { kind: 'accepted' };
  return { kind: status < 500 && !LATER.has(status) ? 'refused' : 'failed', status };
}

/** What an outcome says, without anything of the request: `it answered 400`. */
export const problemOf = (outcome: PostOutcome): string =>
  outcome.kind === 'accepted' || outcome.status === null ? 'no answer' : `it answered ${outcome.status}`;

/**
 * The error of a target that did not take alerts. Names the address's origin only: its path may be a secret.
 */
export const notTaken = (target: string, url: string, problem: string, cause?: unknown): GatewatchError =>
  new GatewatchError(`the ${target} at ${new URL(url).origin} did not take the alerts: ${problem}`, {
    code: 'export_failed',
    retryable: true,
    cause,
  });

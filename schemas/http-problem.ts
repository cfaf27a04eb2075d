/** An error answer (RFC 9457). `detail` is for people; it never repeats a payload or reveals a verdict. */
export interface ProblemDetails {
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  /** Seconds after which to try again. */
  readonly retryAfterS?: number;
  /** Of a request with several items: what is wrong with which, by its place from 0. */
  readonly errors?: readonly ItemProblem[];
}

export interface ItemProblem {
  readonly index: number;
  readonly field: string;
  readonly received: string;
  readonly expected: string;
}

/** What an error is sent through: the reply of an HTTP framework. */
export interface ProblemReply {
  header(name: string, value: string): this;
  code(status: number): this;
  type(contentType: string): this;
  send(body: unknown): this;
}

export function sendProblem<Reply extends ProblemReply>(reply: Reply, problem: ProblemDetails): Reply {
  if (problem.retryAfterS !== undefined) reply.header('retry-after', String(problem.retryAfterS));
  const { status, title, detail, errors } = problem;
  return reply
    .code(status)
    .type('application/problem+json')
    .send({
      type: 'about:blank',
      title,
      status,
      ...(detail === undefined ? {} : { detail }),
      ...(errors === undefined ? {} : { errors }),
    });
}

import type { FastifyReply } from 'fastify';

/** An error answer (RFC 9457). `detail` is for people; it never repeats a payload or tells a verdict. */
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

export async function sendProblem(reply: FastifyReply, problem: ProblemDetails): Promise<FastifyReply> {
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

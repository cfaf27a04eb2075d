import type { Readable } from 'node:stream';
import type { RequestParams } from './request-params.ts';
import type { Answer } from './response.ts';

/** A request with its parameters read. */
export interface QueryRequest {
  readonly params: RequestParams;
  readonly answer: Answer;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;
}

/** A writer's: its body is a statement, the rest of one, or rows. */
export interface WriterRequest extends QueryRequest {
  /** GET and HEAD may only read, and so may a request with `readonly`. */
  readonly mayWrite: boolean;
  readonly body: Readable;
}

import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HEADERS } from '../../../schemas/names.ts';
import { isRetryable } from '../../../schemas/errors.ts';
import type { CallbackAccess } from './callback-access.ts';
import type { Refused } from './guard.ts';
import { sendProblem } from '../../../schemas/http-problem.ts';

/** A callback as it was received. */
export interface IntakeDelivery {
  readonly gateway: string;
  readonly body: Uint8Array;
  readonly signatures: readonly string[];
  readonly deliveryId: string;
}

export interface IntakeOptions {
  /** Whether a sender at this address may deliver callbacks of this gateway. */
  readonly access: Pick<CallbackAccess, 'check'>;
  /** Resolves once the delivery is durable; rejects with a retryable error when nothing durable answers. */
  readonly accept: (delivery: IntakeDelivery) => Promise<void>;
  readonly onReceived: () => void;
  readonly onRefused: (reason: Refused) => void;
}

interface CallbackAddress {
  readonly gateway: string;
  readonly secret?: string;
}

/** When the gateway may send again, as `Retry-After` says. */
const RETRY_AFTER_S = 5;

/**
 * `POST /callbacks/{gateway}` (interface document, section 6). 200 once durable, whatever the
 * verdict: the answer must not show a forger whether a signature was right. With a path secret, the path is
 * `/callbacks/{gateway}/{secret}`.
 */
export function intakeRoutes(app: FastifyInstance, options: IntakeOptions): void {
  // Before the body is read, so that unknown senders take no memory.
  const onRequest = async (request: CallbackRequest, reply: FastifyReply) => {
    const { gateway, secret } = request.params;
    const verdict = options.access.check(gateway, secret, request.ip);
    if (verdict === 'open') return undefined;
    if (verdict === 'foreign_address') {
      options.onRefused('foreign_address');
      const detail = 'Callbacks of this gateway are not taken from this address.';
      return sendProblem(reply, { status: 403, title: 'Forbidden', detail });
    }
    options.onRefused('unknown_gateway');
    return sendProblem(reply, { status: 404, title: 'Not Found', detail: 'No such gateway.' });
  };
  const take = async (request: CallbackRequest, reply: FastifyReply) => {
    const { gateway } = request.params;
    options.onReceived();
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    try {
      await options.accept({
        gateway,
        body,
        // A header that a sender writes twice alike is one.
        signatures: [...new Set(rawHeaders(request.raw.rawHeaders, HEADERS.signature))],
        deliveryId: randomUUID(),
      });
    } catch (error) {
      if (!isRetryable(error)) throw error;
      const detail = 'The callback is not known to be stored. Send it again later.';
      return sendProblem(reply, {
        status: 503,
        title: 'Service Unavailable',
        detail,
        retryAfterS: RETRY_AFTER_S,
      });
    }
    return reply.code(200).send();
  };
  app.post<{ Params: CallbackAddress }>('/callbacks/:gateway', { onRequest }, take);
  app.post<{ Params: CallbackAddress }>('/callbacks/:gateway/:secret', { onRequest }, take);
}

type CallbackRequest = FastifyRequest<{ Params: CallbackAddress }>;

/** Every value of a header, also where Node would join or drop repeated ones. */
function rawHeaders(raw: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() === name) values.push(raw[i + 1] ?? '');
  }
  return values;
}

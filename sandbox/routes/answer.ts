import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayErrorCode } from '../../schemas/gateway/error.ts';
import type { FullStatusReply } from '../../schemas/gateway/status-reply.ts';
import { errorReply, type GatewayReply } from '../create-deposit.ts';
import type { ActiveFault, FaultName } from '../faults.ts';
import type { Random } from '../random.ts';

const ERROR_OF: Partial<Record<FaultName, GatewayErrorCode>> = {
  http_401: 'UNAUTHORIZED',
  http_403: 'FORBIDDEN_ENDPOINT',
  http_403_ip: 'FORBIDDEN_IP',
  http_423: 'TEMPORARY_ERROR',
  http_429: 'RATE_LIMITED',
  http_499: 'REQUEST_CLOSED',
  http_500: 'INTERNAL_ERROR',
  http_503: 'UNAVAILABLE',
  limit_reached: 'LIMIT_REACHED',
};

/**
 * Faults after which the request has still been carried out, unless the fault says otherwise (section 1, rule
 * 1).
 */
const PROCESSED: ReadonlySet<FaultName> = new Set<FaultName>([
  'timeout',
  'slow',
  'connection_reset',
  'truncated_body',
  'truncated_json',
  'http_499',
  'http_500',
  'http_503',
]);

export function isProcessed(fault: ActiveFault): boolean {
  return fault.processed ?? PROCESSED.has(fault.name);
}

/** Writes a reply, bent by the fault if there is one. Tells the HTTP status given, or `none`. */
export async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  result: GatewayReply,
  fault: ActiveFault | undefined,
  random: Random,
): Promise<number | 'none'> {
  const write = async ({ status, body, headers = {} }: GatewayReply) => {
    await reply
      .code(status)
      .headers(headers)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(body));
    return status;
  };
  if (!fault) return write(result);
  const error = ERROR_OF[fault.name];
  if (error === 'RATE_LIMITED') {
    return write({ ...errorReply(error), headers: { 'retry-after': String(fault.retryAfterSeconds ?? 2) } });
  }
  if (error) return write(errorReply(error));
  const { socket } = request.raw;
  const text = JSON.stringify(result.body);
  switch (fault.name) {
    case 'slow':
      await waitWhileOpen(request, fault.delayMs ?? 3000);
      return write(result);
    case 'timeout':
      reply.hijack();
      await waitWhileOpen(request, fault.delayMs ?? 120_000);
      socket.destroy();
      return 'none';
    case 'connection_reset':
      reply.hijack();
      socket.resetAndDestroy();
      return 'none';
    case 'truncated_body': {
      reply.hijack();
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      reply.raw.writeHead(result.status, headers);
      reply.raw.write(text.slice(0, text.length / 2), () => socket.destroy());
      return result.status;
    }
    case 'truncated_json':
      await reply
        .code(result.status)
        .type('application/json; charset=utf-8')
        .send(text.slice(0, text.length / 2));
      return result.status;
    case 'id_mismatch':
      return write(
        result.status === 200 ? { ...result, body: { ...result.body, externalId: random.uuid() } } : result,
      );
    case 'out_of_order_items':
      return write(
        result.status === 200
          ? { ...result, body: shuffled(result.body as FullStatusReply, random) }
          : result,
      );
    default:
      return write(result);
  }
}

/** Resolves after the wait, or at once when the client goes away. */
function waitWhileOpen(request: FastifyRequest, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = request.raw;
    const done = () => {
      clearTimeout(timer);
      socket.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    socket.once('close', done);
  });
}

function shuffled(body: FullStatusReply, random: Random): FullStatusReply {
  const items = body.orderHistory
    .map((item) => ({ item, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
  const same = items.every((item, i) => item === body.orderHistory[i]);
  return { ...body, orderHistory: same ? items.toReversed() : items };
}

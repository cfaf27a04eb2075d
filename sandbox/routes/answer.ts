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
  http_404: 'NOT_FOUND',
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

/** Writes a reply, bent by the fault if there is one. Returns the HTTP status given, or `none`. */
export async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  result: GatewayReply,
  fault: ActiveFault | undefined,
  random: Random,
): Promise<number | 'none'> {
  switch (fault?.name) {
    case 'timeout':
      reply.hijack();
      await waitWhileOpen(request, fault.delayMs ?? 120_000);
      request.raw.socket.destroy();
      return 'none';
    case 'connection_reset':
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return 'none';
    case 'truncated_body':
      cutOff(reply, result, request);
      return result.status;
    case 'truncated_json':
      await write(reply, result, half(JSON.stringify(result.body)));
      return result.status;
    case 'slow':
      await waitWhileOpen(request, fault.delayMs ?? 3000);
      break;
    case 'early_hints':
      reply.raw.writeContinue();
      reply.raw.writeEarlyHints({ link: '</payform.css>; rel=preload; as=style' });
  }
  const bent = fault === undefined ? result : bendReply(result, fault, random);
  await write(reply, bent, JSON.stringify(bent.body));
  return bent.status;
}

/** The reply with what a fault changes in it: another status, another body. */
export function bendReply(
  result: GatewayReply,
  fault: Pick<ActiveFault, 'name' | 'retryAfterSeconds'>,
  random: Random,
): GatewayReply {
  const error = ERROR_OF[fault.name];
  if (error) {
    const seconds = fault.retryAfterSeconds ?? (error === 'RATE_LIMITED' ? 2 : undefined);
    const mayWait = error === 'RATE_LIMITED' || error === 'UNAVAILABLE';
    if (!mayWait || seconds === undefined) return errorReply(error);
    return { ...errorReply(error), headers: { 'retry-after': String(seconds) } };
  }
  if (result.status !== 200) return result;
  if (fault.name === 'id_mismatch') return { ...result, body: { ...result.body, externalId: random.uuid() } };
  const body = result.body as FullStatusReply;
  if (fault.name === 'out_of_order_items') return { ...result, body: shuffled(body, random) };
  if (fault.name === 'status_stale') return { ...result, body: { ...body, orderStatus: 'Processing' } };
  const without = (lacks: (action: string, index: number) => boolean): GatewayReply => ({
    ...result,
    body: {
      ...body,
      orderHistory: body.orderHistory.filter(({ action }, index) => !lacks(action, index)),
    },
  });
  if (fault.name === 'history_item_lost') return without((_action, index) => index === 1);
  if (fault.name === 'callback_unrecorded') return without((action) => action.startsWith('6.'));
  return result;
}

const half = (text: string) => text.slice(0, text.length / 2);

async function write(
  reply: FastifyReply,
  { status, headers = {} }: GatewayReply,
  text: string,
): Promise<void> {
  await reply.code(status).headers(headers).type('application/json; charset=utf-8').send(text);
}

/** Announces the whole body, sends half of it and closes the connection. */
function cutOff(reply: FastifyReply, { status, body }: GatewayReply, request: FastifyRequest): void {
  const text = JSON.stringify(body);
  reply.hijack();
  reply.raw.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  reply.raw.write(half(text), () => request.raw.socket.destroy());
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

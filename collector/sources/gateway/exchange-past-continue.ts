import type { Agent as HttpAgent } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type Agent as HttpsAgent } from 'node:https';
import type { ExchangeRequest, RawReply } from './exchange.ts';

/**
 * The same as `exchange`, for gateways that say `100 Continue` before the reply, which nobody asked them to
 * and which undici takes for a broken connection. Node's own client passes over it, at twice the price.
 */
export function exchangePastContinue(
  agent: HttpAgent | HttpsAgent,
  { origin, path, headers, deadlineMs, maxBytes }: ExchangeRequest,
): Promise<RawReply> {
  const body: Buffer[] = [];
  let bodyBytes = 0;
  let httpStatus: number | null = null;
  let replyHeaders: RawReply['headers'] = {};
  return new Promise((resolve) => {
    const settle = (end: RawReply['end'], error: unknown = null): void => {
      clearTimeout(timer);
      resolve({ httpStatus, headers: replyHeaders, body, bodyBytes, end, error });
    };
    const leave = (end: 'timeout' | 'too_large'): void => {
      settle(end);
      request.destroy();
    };
    const timer = setTimeout(() => leave('timeout'), deadlineMs);
    const send = origin.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(origin + path, { agent, headers }, (response) => {
      httpStatus = response.statusCode ?? null;
      replyHeaders = response.headers;
      response.on('data', (chunk: Buffer) => {
        bodyBytes += chunk.byteLength;
        if (bodyBytes > maxBytes) leave('too_large');
        else body.push(chunk);
      });
      response.on('end', () => settle('complete'));
      response.on('error', (error) => settle('failed', error));
    });
    request.on('error', (error) => settle('failed', error));
    request.end();
  });
}

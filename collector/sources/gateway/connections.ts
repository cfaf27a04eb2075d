import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { EnvHttpProxyAgent, errors, Pool, type Dispatcher } from 'undici';
import { isLoopback } from '../../../schemas/host.ts';
import type { Environment, GatewayConfig } from '../../../schemas/config.ts';
import { exchange, type ExchangeRequest, type RawReply } from './exchange.ts';
import { exchangePastContinue } from './exchange-past-continue.ts';

/** Proxies that requests leave through: the usual variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
export interface ProxyEnvironment {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy?: string | undefined;
}

/** The variables of both spellings, as other programs read them: lower case wins. */
export function proxyFromEnvironment(env: Environment): ProxyEnvironment {
  const read = (name: string): string | undefined => env[name.toLowerCase()] || env[name] || undefined;
  return { httpProxy: read('HTTP_PROXY'), httpsProxy: read('HTTPS_PROXY'), noProxy: read('NO_PROXY') };
}

/** Kept connections to one gateway. */
export interface Connections {
  /** Never rejects. */
  exchange(request: ExchangeRequest): Promise<RawReply>;
  close(): Promise<void>;
}

export function openConnections(gateway: GatewayConfig, proxy: ProxyEnvironment = {}): Connections {
  const { concurrency, deadlineMs } = gateway.poll;
  const dispatcher = openDispatcher(new URL(gateway.secureUrl), proxy, {
    connections: concurrency,
    connect: { timeout: deadlineMs },
    // The deadline of the exchange covers these.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let past: HttpAgent | HttpsAgent | null = null;
  return {
    async exchange(request) {
      if (past !== null) return exchangePastContinue(past, request);
      const startedMs = performance.now();
      const reply = await exchange(dispatcher, request);
      const leftMs = request.deadlineMs - (performance.now() - startedMs);
      if (!wasLeftByUndici(reply) || leftMs < 1) return reply;
      // A read changes nothing, so that it may be made again.
      const agent = openAgent(request.origin, proxy, concurrency);
      const again = await exchangePastContinue(agent, { ...request, deadlineMs: leftMs });
      if (again.httpStatus === null || past !== null) agent.destroy();
      else past = agent;
      return again;
    },
    async close() {
      past?.destroy();
      await dispatcher.destroy();
    },
  };
}

function openDispatcher(url: URL, proxy: ProxyEnvironment, options: Pool.Options): Dispatcher {
  const proxies = proxyFor(url, proxy);
  return proxies === null ? new Pool(url.origin, options) : new EnvHttpProxyAgent({ ...options, ...proxies });
}

/** null: the way to this address leads through no proxy. Loopback never does. */
export function proxyFor(
  url: URL,
  { httpProxy, httpsProxy, noProxy }: ProxyEnvironment,
): EnvHttpProxyAgent.Options | null {
  const proxy = url.protocol === 'https:' ? httpsProxy : httpProxy;
  if (proxy === undefined || isLoopback(url.hostname)) return null;
  return { httpProxy: httpProxy ?? '', httpsProxy: httpsProxy ?? '', noProxy: noProxy ?? '' };
}

function openAgent(origin: string, { httpProxy, httpsProxy, noProxy }: ProxyEnvironment, maxSockets: number) {
  const isLocal = isLoopback(new URL(origin).hostname);
  const proxyEnv = { HTTP_PROXY: httpProxy, HTTPS_PROXY: httpsProxy, NO_PROXY: noProxy };
  const options = { keepAlive: true, maxSockets, ...(isLocal ? {} : { proxyEnv }) };
  return origin.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
}

/** No reply, although the gateway had said something on a connection that was then given up on this side. */
const wasLeftByUndici = ({ httpStatus, error }: RawReply): boolean =>
  httpStatus === null && error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;

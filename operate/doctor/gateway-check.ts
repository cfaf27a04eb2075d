import { lookup } from 'node:dns/promises';
import { connect, type PeerCertificate } from 'node:tls';
import type { GatewayConfig } from '../../schemas/config.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';

/** A UUID that no order has. */
const NO_ORDER = '00000000-0000-4000-8000-000000000000';
const EXPIRES_SOON_DAYS = 14;
const SKEW_WARN_MS = 5_000;

/** How the collector itself reaches gateways. */
export interface GatewayPort {
  /** One GET request; a body is not looked at. Never rejects. */
  readonly ask: (
    gateway: GatewayConfig,
    path: string,
    headers: Readonly<Record<string, string>>,
  ) => Promise<GatewayAnswer>;
  /** Host of the proxy that requests to an address leave through; null: none. */
  readonly proxyOf: (url: URL) => string | null;
}

export interface GatewayAnswer {
  /** null: there was no answer. */
  readonly status: number | null;
  readonly date: string | null;
  /** Why there was none. */
  readonly failure: string;
}

/**
 * Can the gateway be found, trusted, and asked (interface document, sections 4.3, 5)? One status request for
 * an order that cannot exist: a gateway which lets us in says so. It is asked once more without the token,
 * which a status address refuses. The reply's body is not looked at.
 */
export function gatewayCheck(gateway: GatewayConfig, { ask, proxyOf }: GatewayPort): Check {
  const name = `gateway ${gateway.name}`;
  const url = new URL(gateway.secureUrl);
  return {
    name,
    async run(signal) {
      const proxy = proxyOf(url);
      if (proxy !== null) {
        const way = `${url.host} is asked through the proxy ${proxy}, unless NO_PROXY names it.`;
        return [ok(`${name}: way`, way), ...(await askStatus(name, gateway, ask))];
      }
      const address = await resolveHost(name, url);
      if (address.status === 'fail') return [address];
      const [certificate, answers] = await Promise.all([
        url.protocol === 'https:' ? checkCertificate(name, url, signal) : null,
        askStatus(name, gateway, ask),
      ]);
      // A certificate that is not trusted is why there was no answer.
      if (certificate?.status === 'fail') return [address, certificate];
      return [address, ...(certificate === null ? [] : [certificate]), ...answers];
    },
  };
}

async function resolveHost(name: string, url: URL): Promise<Finding> {
  const check = `${name}: name`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const { address } = await lookup(host);
    return ok(check, address === host ? `${host} is an address.` : `${host} is ${address}.`);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'error';
    return fail(
      check,
      `${host} cannot be resolved (${reason}).`,
      'Check secureUrl, and the DNS of this host.',
    );
  }
}

function checkCertificate(name: string, url: URL, signal: AbortSignal): Promise<Finding> {
  const check = `${name}: certificate`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const { promise, resolve } = Promise.withResolvers<Finding>();
  const port = url.port === '' ? 443 : Number(url.port);
  // No server name for addresses: TLS knows names only.
  const socket = connect({ host, port, ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }) });
  signal.addEventListener('abort', () => socket.destroy(new Error('no answer in time')), { once: true });
  socket.once('secureConnect', () => {
    resolve(judge(check, socket.getPeerCertificate()));
    socket.destroy();
  });
  socket.once('error', (error: NodeJS.ErrnoException) => {
    const advice = /CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(error.code ?? '')
      ? 'For an authority of your own set NODE_EXTRA_CA_CERTS; verification cannot be switched off.'
      : 'Check host and port of secureUrl, and the way there: firewall, proxy, allowed addresses.';
    resolve(fail(check, `No TLS connection to ${url.host} (${error.code ?? error.message}).`, advice));
  });
  return promise;
}

function judge(check: string, certificate: PeerCertificate): Finding {
  const until = new Date(certificate.valid_to);
  const days = Math.floor((until.getTime() - Date.now()) / 86_400_000);
  const text = `Trusted, valid until ${until.toISOString().slice(0, 10)} (${days} days).`;
  return days > EXPIRES_SOON_DAYS
    ? ok(check, text)
    : warn(check, text, 'Ask the gateway when it is renewed.');
}

async function askStatus(
  name: string,
  gateway: GatewayConfig,
  ask: GatewayPort['ask'],
): Promise<readonly Finding[]> {
  const check = `${name}: status request`;
  const { origin, pathname } = new URL(gateway.secureUrl);
  const path =
    pathname.replace(/\/+$/, '') + gateway.pathPrefix + gateway.paths.depositStatus.replace('{id}', NO_ORDER);
  const sentAt = Date.now();
  const answer = await ask(gateway, path, { authorization: `Bearer ${gateway.token.reveal()}` });
  const receivedAt = Date.now();
  if (answer.status === null) {
    const advice = 'Check secureUrl and the way there: firewall, proxy (HTTPS_PROXY), allowed addresses.';
    return [fail(check, `${new URL(origin).host} does not answer (${answer.failure}).`, advice)];
  }
  const skew = clockSkew(name, answer.date, sentAt, receivedAt);
  // A place that is no status address says 404 as well, and to everybody.
  const isOpen = answer.status === 404 && (await ask(gateway, path, {})).status === 404;
  const judged = judgeStatus(check, answer.status, receivedAt - sentAt, isOpen);
  return [judged, ...(skew === null ? [] : [skew])];
}

function judgeStatus(check: string, status: number, elapsedMs: number, isOpen: boolean): Finding {
  const answered = `The gateway answers ${status} in ${elapsedMs} ms`;
  if (isOpen) {
    return warn(
      check,
      `${answered}, and the same without a token: it may not be the status address.`,
      'Check secureUrl, pathPrefix and paths: is a part of the path missing, such as /secure?',
    );
  }
  if (status === 404) return ok(check, `${answered} for an order that does not exist: it lets us in.`);
  if (status === 401) {
    return fail(
      check,
      `${answered}: the token is not accepted.`,
      'Check token, or ask the gateway for a new one.',
    );
  }
  if (status === 403) {
    const advice =
      "Ask the gateway whether this host's outgoing address is allowed, and the token's access to status.";
    return fail(check, `${answered}: this address, or this endpoint, is not allowed.`, advice);
  }
  if (status >= 300 && status < 400) {
    return fail(
      check,
      `${answered}: it points elsewhere, and redirects are not followed.`,
      'Set secureUrl to the final address.',
    );
  }
  if (status === 423 || status === 429 || status >= 499) {
    return warn(
      check,
      `${answered}: it has trouble at present.`,
      'The collector keeps trying; try the doctor again.',
    );
  }
  const advice = 'Check secureUrl, pathPrefix and paths: something else may answer there.';
  return warn(check, `${answered} for an order that does not exist; 404 was expected.`, advice);
}

/** The Date header has whole seconds, and was written between sending and receiving. */
function clockSkew(name: string, date: string | null, sentAt: number, receivedAt: number): Finding | null {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(theirs)) return null;
  const behindMs = Math.max(0, sentAt - (theirs + 1000));
  const aheadMs = Math.max(0, theirs - receivedAt);
  const check = `${name}: clock`;
  if (behindMs + aheadMs <= SKEW_WARN_MS) return ok(check, "This host's clock and the gateway's agree.");
  const seconds = Math.round((behindMs + aheadMs) / 1000);
  const text = `The gateway's clock is ${seconds} s ${behindMs > 0 ? 'behind' : 'ahead of'} this host's.`;
  return warn(check, text, 'Check NTP here; late and fresh events are distinguished by the clock.');
}

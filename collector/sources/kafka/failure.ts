import { type ErrorCode, GatewatchError } from '../../../schemas/errors.ts';

/** What kafkajs errors carry besides a message. */
interface ClientError extends Error {
  type?: string;
  code?: string | number;
  broker?: string;
  retriable?: boolean;
}

const LOST_MEMBERSHIP = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']);
const REBALANCES = new Set(['REBALANCE_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP', ...LOST_MEMBERSHIP]);

/** The group is moving on: kafkajs must see this error to join again. */
export function isRebalance(error: unknown): boolean {
  return chain(error).some(({ type }) => type !== undefined && REBALANCES.has(type));
}

/** The broker no longer counts us as a member: nothing we commit can be accepted. */
export function isLostMembership(error: unknown): boolean {
  return chain(error).some(({ type }) => type !== undefined && LOST_MEMBERSHIP.has(type));
}

/**
 * Describes in a user's terms what is wrong with the broker: address, reason, what to check. Never contains a
 * credential.
 */
export function describeFailure(error: unknown, brokers: readonly string[]): GatewatchError {
  if (error instanceof GatewatchError) return error;
  const causes = chain(error);
  const at = causes.find(({ broker }) => broker !== undefined)?.broker ?? brokers.join(', ');
  const root = causes.at(-1);
  const named = (name: string): boolean => causes.some((cause) => cause.name === name);
  const typed = (pattern: RegExp): boolean =>
    causes.some(({ type }) => type !== undefined && pattern.test(type));
  const fail = (code: ErrorCode, message: string, retryable = true): GatewatchError =>
    new GatewatchError(message, { code, retryable, cause: error });

  if (named('KafkaJSSASLAuthenticationError') || typed(/SASL/)) {
    return fail(
      'kafka_auth_failed',
      `Kafka at ${at} refuses these credentials: check mechanism, user and password.`,
    );
  }
  if (typed(/AUTHORIZATION_FAILED/)) {
    const what = causes.find(({ type }) => type?.endsWith('AUTHORIZATION_FAILED'))?.type?.split('_')[0];
    return fail(
      'kafka_not_authorized',
      `Kafka at ${at} does not allow this ${what?.toLowerCase()}: check its ACLs.`,
    );
  }
  if (typed(/UNKNOWN_TOPIC_OR_PARTITION/)) {
    return fail(
      'kafka_topic_missing',
      `Kafka at ${at} does not have the topic: create it, or set createTopics.`,
    );
  }
  if (typed(/TOO_LARGE/)) {
    return fail('kafka_message_too_large', `Kafka at ${at} refuses a message as too large.`, false);
  }
  if (named('KafkaJSRequestTimeoutError') || named('KafkaJSConnectionTimeoutError')) {
    const hint = 'a frozen broker, a firewall, or TLS spoken to a port without it';
    return fail('kafka_timeout', `Kafka at ${at} does not answer in time: ${hint}.`);
  }
  const tls = tlsReason(causes);
  if (tls !== undefined) {
    const hint = 'Check kafka.ssl: the authority in ca, and cert and key where the broker asks for them';
    return fail('kafka_unreachable', `Kafka at ${at}: the TLS handshake failed (${tls}). ${hint}.`);
  }
  const reason = connectionReason(causes);
  if (reason !== undefined) {
    return fail('kafka_unreachable', `Kafka at ${at} cannot be reached: ${reason}. Check the address.`);
  }
  return fail(
    'kafka_protocol',
    `Kafka at ${at}: ${root?.message ?? String(error)}`,
    root?.retriable !== false,
  );
}

/** The TLS library's message, without the source locations in it. */
function tlsReason(causes: readonly ClientError[]): string | undefined {
  const said = causes.map(({ message }) => message).find((message) => TLS_WORDS.test(message));
  return said?.replace(/^Connection error: /, '').replace(/^.*:error:[^:]*:[^:]*:[^:]*:([^:]*):.*$/s, '$1');
}

const TLS_WORDS = /certificate|self.signed|SSL routines|wrong version number/i;

function connectionReason(causes: readonly ClientError[]): string | undefined {
  const text = causes.map(({ code, message }) => `${code ?? ''} ${message}`).join(' ');
  if (text.includes('ECONNREFUSED')) return 'connection refused (nothing listens there)';
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return 'its host name does not resolve';
  if (/EHOSTUNREACH|ENETUNREACH/.test(text)) return 'no route to the host';
  const lost = /^KafkaJS(Connection|Broker|NoBroker|ClusterMetadata|Closed)/;
  if (/ECONNRESET|EPIPE|ETIMEDOUT/.test(text) || causes.some(({ name }) => lost.test(name))) {
    return 'the connection was closed';
  }
  return undefined;
}

function chain(error: unknown): ClientError[] {
  const causes: ClientError[] = [];
  for (let at = error; at instanceof Error && causes.length < 10; at = at.cause) causes.push(at);
  return causes;
}

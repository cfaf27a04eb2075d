import { KafkaJSConnectionError, KafkaJSNumberOfRetriesExceeded, KafkaJSRequestTimeoutError } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import {
  describeFailure,
  isLostMembership,
  isRebalance,
} from '../../../../collector/sources/kafka/failure.ts';

const brokers = ['kafka-1:9092', 'kafka-2:9092'];

function protocolError(type: string, retriable = false): Error {
  return Object.assign(new Error(`it said ${type}`), { name: 'KafkaJSProtocolError', type, retriable });
}

function named(name: string): Error {
  return Object.assign(new Error('no'), { name });
}

function afterRetries(cause: Error): Error {
  return new KafkaJSNumberOfRetriesExceeded(cause as never, { retryCount: 5, retryTime: 1, cause } as never);
}

describe('a failure of Kafka in words for its user', () => {
  it.each([
    [
      new KafkaJSConnectionError('Connection error: connect ECONNREFUSED 10.0.0.1:9092', {
        broker: 'kafka-1:9092',
        code: 'ECONNREFUSED',
      } as never),
      'kafka_unreachable',
      'Kafka at kafka-1:9092 cannot be reached: connection refused',
    ],
    [
      new KafkaJSConnectionError('Connection error: getaddrinfo ENOTFOUND kafka-1', {
        broker: 'kafka-1:9092',
        code: 'ENOTFOUND',
      } as never),
      'kafka_unreachable',
      'its host name does not resolve',
    ],
    [
      new KafkaJSConnectionError('Connection error: self-signed certificate', {
        broker: 'kafka-1:9092',
      } as never),
      'kafka_unreachable',
      'the TLS handshake failed (self-signed certificate). Check kafka.ssl',
    ],
    [named('KafkaJSSASLAuthenticationError'), 'kafka_auth_failed', 'refuses these credentials'],
    [protocolError('GROUP_AUTHORIZATION_FAILED'), 'kafka_not_authorized', 'does not allow this group'],
    [protocolError('TOPIC_AUTHORIZATION_FAILED'), 'kafka_not_authorized', 'does not allow this topic'],
    [protocolError('UNKNOWN_TOPIC_OR_PARTITION', true), 'kafka_topic_missing', 'does not have the topic'],
    [
      new KafkaJSRequestTimeoutError('Request timed out', { broker: 'kafka-2:9092' } as never),
      'kafka_timeout',
      'Kafka at kafka-2:9092 does not answer in time',
    ],
  ])('%s', (error, code, message) => {
    for (const given of [error, afterRetries(error)]) {
      const failure = describeFailure(given, brokers);
      expect(failure).toMatchObject({ code, retryable: true });
      expect(failure.message).toContain(message);
      expect(failure.cause).toBe(given);
    }
  });

  it('keeps the words of an error it does not know, and whether trying again may help', () => {
    const failure = describeFailure(protocolError('SOMETHING_NEW'), brokers);
    expect(failure).toMatchObject({ code: 'kafka_protocol', retryable: false });
    expect(failure.message).toContain('it said SOMETHING_NEW');
    expect(describeFailure(protocolError('SOMETHING_NEW', true), brokers).retryable).toBe(true);
    expect(describeFailure('no error at all', brokers).message).toContain('no error at all');
  });

  it('distinguishes a rebalance from a membership that is lost', () => {
    expect(isRebalance(protocolError('REBALANCE_IN_PROGRESS'))).toBe(true);
    expect(isLostMembership(protocolError('REBALANCE_IN_PROGRESS'))).toBe(false);
    for (const type of ['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION']) {
      expect(isRebalance(protocolError(type))).toBe(true);
      expect(isLostMembership(afterRetries(protocolError(type)))).toBe(true);
    }
    expect(isRebalance(new Error('anything'))).toBe(false);
  });
});

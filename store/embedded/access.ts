import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback, nameOfHost } from '../../schemas/host.ts';
import { clickhouseError, type ClickHouseError } from './clickhouse-error.ts';
import type { Role } from './engine.ts';
import { matchesDigest } from './secrets.ts';

/** User names of the embedded store. */
export const users = { writer: 'gatewatch', reader: 'gatewatch_reader' } as const;

/** Digests of the users' passwords (`digestOf`). */
export interface Digests {
  readonly writer: string;
  /** null: anybody on this machine may read, because the configuration says so. */
  readonly reader: string | null;
}

interface Credentials {
  readonly user: string;
  readonly password: string;
}

/**
 * Refuses requests that a web page makes a browser send, whatever page it is: the store serves no pages, so
 * none has a reason to ask. Also refuses Host headers of other machines (DNS rebinding).
 *
 * @returns the reason, or `null` when the request is allowed
 */
export function refuseBrowser(headers: IncomingHttpHeaders): string | null {
  const name = nameOfHost(headers.host);
  if (name === null || !isLoopback(name)) return 'The Host header does not name this machine.';
  const site = headers['sec-fetch-site'];
  const isTyped = site === undefined || site === 'none';
  return headers.origin === undefined && isTyped ? null : 'Requests from web pages are refused.';
}

/**
 * Finds out who sends the request: Basic authentication, `X-ClickHouse-User` and `-Key`, or `user` and
 * `password`. No user, or `default`, means the reader.
 *
 * @throws ClickHouseError 516 when the password is wrong or the user unknown, 194 when none is given
 */
export function authenticate(headers: IncomingHttpHeaders, params: URLSearchParams, digests: Digests): Role {
  const { user, password } = readCredentials(headers, params);
  if (user === users.writer && matchesDigest(password, digests.writer)) return 'writer';
  if (user !== users.reader && user !== '' && user !== 'default') throw refused(user);
  if (digests.reader === null) return 'reader';
  if (password === '') {
    const where = "it is in the file reader.secret of the store's data folder";
    throw clickhouseError(194, `${users.reader}: Authentication failed: a password is required; ${where}.`);
  }
  if (matchesDigest(password, digests.reader)) return 'reader';
  throw refused(user);
}

function refused(user: string): ClickHouseError {
  const reason = 'password is incorrect, or there is no user with such name';
  return clickhouseError(516, `${maskControls(user)}: Authentication failed: ${reason}.`);
}

function readCredentials(headers: IncomingHttpHeaders, params: URLSearchParams): Credentials {
  const headerUser = headers['x-clickhouse-user'];
  const headerKey = headers['x-clickhouse-key'];
  if (headerUser !== undefined || headerKey !== undefined) {
    return { user: firstValue(headerUser) ?? '', password: firstValue(headerKey) ?? '' };
  }
  if (headers.authorization !== undefined) return readBasic(headers.authorization);
  return { user: params.get('user') ?? '', password: params.get('password') ?? '' };
}

function readBasic(authorization: string): Credentials {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]*)$/i.exec(authorization)?.[1];
  if (encoded === undefined) {
    throw clickhouseError(516, 'Authentication failed: only the Basic scheme is supported.');
  }
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0
    ? { user: decoded, password: '' }
    : { user: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** The first value of a header that may be sent more than once. */
export function firstValue(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function maskControls(user: string): string {
  return user.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
}

import { destination, pino, type Logger } from 'pino';
import type { Config } from '../../schemas/config.ts';
import { logIds } from '../../collector/telemetry/own-spans.ts';
import { redact } from '../../schemas/redact.ts';
import { GatewatchError } from '../../schemas/errors.ts';

/** JSON lines on stderr, written at once: what a crash says last must not be lost. */
export function createLog(level: Config['log']['level']): Logger {
  return pino(
    {
      level,
      base: null,
      mixin: logIds,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError, error: describeError },
    },
    destination({ fd: 2, sync: true }),
  );
}

/**
 * What a log may know of an error: its kind, its text without anything card-like, where it was thrown, and
 * its causes.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: redact(String(error)) };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...('code' in error ? { code: error.code } : {}),
    // Our own errors never carry a secret or a payload; a library's may.
    message: error instanceof GatewatchError ? error.message : redact(error.message),
    stack: frames.slice(0, 10).map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

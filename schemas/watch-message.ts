import { refuse, type Decoded } from './decoded.ts';
import { parseKeepingIds } from './json.ts';
import type { Coordinates } from './kafka.ts';
import { watchMessageSchema, type WatchMessage } from './watch.ts';
import type { OwnerHint } from './owner-hint.ts';
import { firstProblem, type Problem } from './problem.ts';
import { looksLikeCardNumber } from './card-search.ts';

export type DecodedWatchMessage = Decoded<{ readonly message: WatchMessage }>;

/**
 * Reads a message of the watch topic or a body of `POST /orders`. Total: any bytes give a value.
 */
export function decodeWatchMessage(value: Uint8Array | null): DecodedWatchMessage {
  if (value === null || value.byteLength === 0) {
    return malformed({ field: 'body', received: 'nothing', expected: 'JSON' });
  }
  let input: unknown;
  try {
    input = parseKeepingIds(new TextDecoder('utf-8', { fatal: true }).decode(value));
  } catch {
    return malformed({
      field: 'body',
      received: `${value.byteLength} bytes of something else`,
      expected: 'JSON',
    });
  }
  return checkWatchMessage(input);
}

const malformed = (problem: Problem) => refuse('watch_message_malformed', problem);

/** The same for a value that is parsed already. */
export function checkWatchMessage(input: unknown): DecodedWatchMessage {
  const parsed = watchMessageSchema.safeParse(input);
  if (!parsed.success) return malformed(firstProblem(parsed.error, input));
  const message = parsed.data;
  // Its sender is one of our own, who can mend it; what merely has another form is kept by its fingerprint.
  for (const field of HINTS) {
    if (looksLikeCardNumber(message[field] ?? '')) {
      return malformed({ field, received: 'digits like a card number', expected: `a ${field}` });
    }
  }
  return { ok: true, message };
}

const HINTS = ['channel', 'amount', 'currency'] as const;

/** A decoded watch message, or why it could not be decoded, with where it came from. */
export interface WatchRequest {
  readonly message: WatchMessage | null;
  /** Instead of a message: another collector names an order that this one owns. */
  readonly hint?: OwnerHint | null;
  /** Why neither could be read. */
  readonly problem: Problem | null;
  readonly source: 'kafka' | 'http' | 'backfill' | 'redrive';
  /** Equal for the same message however often it is read. */
  readonly deliveryId: string;
  readonly coordinates: Coordinates | null;
}

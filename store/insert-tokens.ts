import { randomUUID } from 'node:crypto';
import { isDataError, StoreError } from './store-error.ts';

/** What an insert is sent under, and since when. */
interface Sending {
  readonly token: string;
  readonly sinceMs: number;
}

export interface InsertTokensOptions {
  /** @throws StoreError */
  readonly send: (token: string) => Promise<void>;
  /** Seconds that the server has run, rounded down. @throws StoreError */
  readonly uptimeS: () => Promise<number>;
}

/**
 * Chooses the token for each sending of an insert.
 *
 * ClickHouse notes a token first and puts the rows in their place then. A server that is killed in between,
 * or whose disk fails just there, knows the token and has no rows, and it answers the repetition with
 * success. So a token is trusted again only by a server that has run on since it was first sent under it, and
 * has not complained of its disk. Otherwise the rows go out under a new one: what was there after all is
 * there twice, and the views show each thing once.
 */
export interface InsertTokens {
  /** Sends until the answer can be trusted. @throws StoreError of the first sending that fails */
  deliver(ownToken: string, options: InsertTokensOptions): Promise<void>;
}

/** Errors of ClickHouse's disk, at which a token may have been noted for rows that are not there. */
const DISK_ERRORS: ReadonlySet<number> = new Set([
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  77, // CANNOT_CLOSE_FILE
  84, // DIRECTORY_ALREADY_EXISTS
  235, // DUPLICATE_DATA_PART
  243, // NOT_ENOUGH_SPACE
  1001, // STD_EXCEPTION: what the file system says when a part is renamed
]);

/** @param nowMs monotonic */
export function createInsertTokens(nowMs: () => number = () => performance.now()): InsertTokens {
  /**
   * By the insert's own token: sendings that may have been carried out, and those that are to follow them.
   */
  const doubtful = new Map<string, Sending>();
  const renewed = (ownToken: string): Sending => ({
    token: `${ownToken}-${randomUUID()}`,
    sinceMs: nowMs(),
  });

  async function hasRunSince(sinceMs: number, uptimeS: () => Promise<number>): Promise<boolean> {
    const upMs = 1000 * (await uptimeS());
    return nowMs() - upMs <= sinceMs;
  }

  return {
    async deliver(ownToken, { send, uptimeS }) {
      const earlier = doubtful.get(ownToken);
      let sending = earlier ?? { token: ownToken, sinceMs: nowMs() };
      let isDoubtful = earlier !== undefined;
      for (;;) {
        try {
          await send(sending.token);
          if (!isDoubtful || (await hasRunSince(sending.sinceMs, uptimeS))) break;
        } catch (error) {
          if (isDataError(error)) doubtful.delete(ownToken);
          else if (isDiskError(error)) doubtful.set(ownToken, renewed(ownToken));
          else if (isAmbiguous(error)) doubtful.set(ownToken, sending);
          throw error;
        }
        sending = renewed(ownToken);
        doubtful.set(ownToken, sending);
        isDoubtful = false;
      }
      doubtful.delete(ownToken);
    },
  };
}

const isAmbiguous = (error: unknown): boolean => !(error instanceof StoreError) || error.ambiguous;

const isDiskError = (error: unknown): boolean =>
  error instanceof StoreError && error.clickhouseCode !== null && DISK_ERRORS.has(error.clickhouseCode);

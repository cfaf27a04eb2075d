import type { Instruments } from '../../telemetry/instruments.ts';
import type { SinkStatus } from '../../../schemas/sink.ts';
import type { FrozenInsert } from '../../../store/frozen-insert.ts';
import type { Store } from '../../../store/store.ts';
import { isDataError, StoreError } from '../../../store/store-error.ts';
import type { RetryPolicy } from '../retry.ts';
import { untilAnswered } from '../retry.ts';

export interface RetryingStoreOptions {
  readonly store: Pick<Store, 'insertFrozen'>;
  readonly policy: RetryPolicy;
  /** Once aborted, requests under way are given up. */
  readonly signal: AbortSignal;
  readonly instruments: Pick<Instruments, 'insertRetries' | 'ambiguousInserts'>;
  readonly log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
  };
}

/** The store, with every request repeated until it answers. */
export interface RetryingStore {
  /** @throws StoreError when the store refuses the rows; GatewatchError `stopped` */
  insert(insert: FrozenInsert): Promise<void>;
  /** Runs any other request. @throws GatewatchError `stopped` */
  ask<T>(question: () => Promise<T>): Promise<T>;
  status(): Pick<SinkStatus, 'state' | 'retries' | 'ambiguous' | 'lastError'>;
}

export function createRetryingStore(options: RetryingStoreOptions): RetryingStore {
  const { store, policy, signal, instruments, log } = options;
  /**
   * What the store does not take at the moment, and why: tables are sent side by side, and one may go on
   * while another waits.
   */
  const failing = new Map<object, string>();
  let retries = 0;
  let ambiguous = 0;

  function onFailure(what: object, error: unknown, attempt: number): void {
    const { code, message, isAmbiguous } = describe(error);
    retries += 1;
    failing.set(what, message);
    instruments.insertRetries.add(1, { code });
    if (isAmbiguous) {
      ambiguous += 1;
      instruments.ambiguousInserts.add(1);
    }
    if (attempt === 1 || attempt % 20 === 0)
      log.warn({ code, attempt, error: message }, 'insert failed, repeating');
  }

  return {
    async insert(insert) {
      try {
        await untilAnswered(() => store.insertFrozen(insert, signal), {
          policy,
          signal,
          isFinal: isDataError,
          onFailure: (error, attempt) => onFailure(insert, error, attempt),
        });
      } finally {
        // Any answer of the store counts, also that a row is wrong.
        if (!signal.aborted && failing.delete(insert))
          log.info({ table: insert.tableName }, 'the store takes rows again');
      }
    },
    async ask(question) {
      const answer = await untilAnswered(question, {
        policy,
        signal,
        isFinal: () => false,
        onFailure: (error, attempt) => onFailure(question, error, attempt),
      });
      failing.delete(question);
      return answer;
    },
    status: () => ({
      state: failing.size === 0 ? 'ok' : 'retrying',
      retries,
      ambiguous,
      lastError: [...failing.values()].at(-1) ?? null,
    }),
  };
}

/** Never holds row content: the store's errors do not. */
function describe(error: unknown): { code: string; message: string; isAmbiguous: boolean } {
  const message = error instanceof Error ? error.message : 'unknown error';
  if (!(error instanceof StoreError)) return { code: 'internal', message, isAmbiguous: false };
  return { code: error.code, message, isAmbiguous: error.ambiguous };
}

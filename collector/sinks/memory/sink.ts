import type { TableKey } from '../../../schemas/names.ts';
import type { EpochMicros, RowBundle, Rows } from '../../../schemas/rows.ts';
import { GatewatchError } from '../../../schemas/errors.ts';
import { addProvenance, appendRows, countRows, emptyProvenance } from '../bundle.ts';
import type { RowsByTable } from '../bundle.ts';
import type { Provenance, RowSink, SinkStatus } from '../../../schemas/sink.ts';

export interface MemorySinkOptions {
  /** Clock of the time stamps in `status()`. @default the wall clock */
  nowMicros?: () => EpochMicros;
}

export interface MemorySink extends RowSink {
  /** Acknowledged rows of one table, in order. */
  rows<K extends TableKey>(table: K): readonly Rows[K][];
  /** Sum over all acknowledged bundles. */
  provenance(): Provenance;
  /** Keeps writes waiting, as a store does that is down; a repeated call has no effect. */
  hold(): void;
  /** Acknowledges what waits. */
  release(): void;
}

/** A sink that keeps rows in memory: for tests of what feeds a sink, and for runs without a store. */
export function createMemorySink(options: MemorySinkOptions = {}): MemorySink {
  const nowMicros = options.nowMicros ?? (() => Date.now() * 1000);
  const acknowledged: RowsByTable = new Map();
  const provenanceSum = emptyProvenance();
  const waiting: WaitingWrite[] = [];
  let held = false;
  let stopped = false;
  let lastAckAt: EpochMicros | null = null;

  function acknowledge(bundle: RowBundle, provenance: Provenance | undefined): void {
    appendRows(acknowledged, bundle);
    addProvenance(provenanceSum, provenance);
    lastAckAt = nowMicros();
  }

  function drain(): void {
    for (const one of waiting.splice(0)) {
      acknowledge(one.bundle, one.provenance);
      one.settle();
    }
  }

  return {
    async write(bundle, provenance) {
      if (stopped) throw stoppedError();
      if (!held) return acknowledge(bundle, provenance);
      await new Promise<void>((resolve, reject) => {
        const settle = (error?: Error): void => (error === undefined ? resolve() : reject(error));
        waiting.push({ bundle, provenance, settle, since: nowMicros() });
      });
    },
    status: () => statusOf({ held, waiting, lastAckAt }, nowMicros()),
    async stop() {
      stopped = true;
      if (!held) drain();
      for (const one of waiting.splice(0)) one.settle(stoppedError());
    },
    rows: <K extends TableKey>(table: K) => (acknowledged.get(table) ?? []) as unknown as readonly Rows[K][],
    provenance: () => ({
      ...provenanceSum,
      coordinates: [...provenanceSum.coordinates],
      hintCoordinates: [...provenanceSum.hintCoordinates],
    }),
    hold() {
      held = true;
    },
    release() {
      held = false;
      drain();
    },
  };
}

/** A call of `write` that is kept waiting. */
interface WaitingWrite {
  readonly bundle: RowBundle;
  readonly provenance: Provenance | undefined;
  readonly settle: (error?: Error) => void;
  readonly since: EpochMicros;
}

interface MemorySinkState {
  readonly held: boolean;
  readonly waiting: readonly Pick<WaitingWrite, 'bundle' | 'since'>[];
  readonly lastAckAt: EpochMicros | null;
}

export function statusOf({ held, waiting, lastAckAt }: MemorySinkState, now: EpochMicros): SinkStatus {
  const isStuck = held && waiting.length > 0;
  return {
    state: isStuck ? 'retrying' : 'ok',
    backlogRows: waiting.reduce((sum, one) => sum + countRows(one.bundle), 0),
    stalledMs: waiting[0] === undefined ? null : (now - waiting[0].since) / 1000,
    inFlight: 0,
    lastAckAt,
    retries: 0,
    ambiguous: 0,
    lastError: isStuck ? 'held' : null,
  };
}

function stoppedError(): GatewatchError {
  return new GatewatchError('the sink has been stopped', { code: 'stopped', retryable: true });
}

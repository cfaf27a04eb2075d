import type { Duplex } from 'node:stream';
import { clickhouseError, ClickHouseError } from '../clickhouse-error.ts';
import { receive, send, type GateAnswer, type ReaderRequest, type ReaderVerdict } from './messages.ts';

/** Where a reader's request is judged before anything of it reaches the engine. */
export interface ReaderGate {
  /**
   * @throws ClickHouseError for what may not be run; 159 for what takes too long to judge; 202 when too many
   *   wait
   */
  judge(request: ReaderRequest): Promise<ReaderVerdict>;
  close(): void;
}

export interface ReaderGateOptions {
  /** Starts the gate's process and gives the way to it. Rejects when it cannot be started. */
  readonly connect: () => Promise<Duplex>;
  readonly log: (level: 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>>) => void;
  /** Requests waiting at once; more are refused. @default 256 */
  readonly maxWaiting?: number;
  /** The gate's process ends when nobody has asked for so long: it holds some 70 MB. @default 300000 */
  readonly idleMs?: number;
}

interface Pending {
  readonly request: ReaderRequest;
  readonly resolve: (verdict: ReaderVerdict) => void;
  readonly reject: (error: Error) => void;
  /** How often a process ended under it. */
  losses: number;
}

/** A request whose process was ended by others is asked again so often. */
const MAX_LOSSES = 3;

/** Starts the gate's process when it is wanted, and anew when it has ended. */
export function createReaderGate(options: ReaderGateOptions): ReaderGate {
  const { connect, log, maxWaiting = 256, idleMs = 300_000 } = options;
  const pending = new Map<number, Pending>();
  let channel: Duplex | null = null;
  let connecting = false;
  let closed = false;
  let lastId = 0;
  let idleTimer: NodeJS.Timeout | null = null;

  function settle(answer: GateAnswer): void {
    const one = pending.get(answer.id);
    pending.delete(answer.id);
    if (one === undefined) return;
    if ('verdict' in answer) one.resolve(answer.verdict);
    else if ('stuck' in answer) {
      log('warn', 'a statement of a reader took too long to judge', { bytes: one.request.body.byteLength });
      one.reject(clickhouseError(159, 'The statement takes too long to read: make it simpler.'));
    } else one.reject(new ClickHouseError(answer.code, answer.message));
    if (pending.size === 0) rest();
  }

  function rest(): void {
    if (idleTimer !== null) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => channel?.destroy(), idleMs);
    idleTimer.unref();
  }

  function lost(): void {
    channel = null;
    for (const [id, one] of pending) {
      one.losses += 1;
      if (one.losses < MAX_LOSSES && !closed) continue;
      pending.delete(id);
      one.reject(clickhouseError(236, 'The statement could not be judged. Try again.'));
    }
    if (pending.size > 0) void open();
  }

  async function open(): Promise<void> {
    if (channel !== null || connecting || closed) return;
    connecting = true;
    try {
      const opened = await connect();
      connecting = false;
      if (closed) return void opened.destroy();
      channel = opened;
      opened.on('error', () => undefined).once('close', lost);
      receive<GateAnswer>(opened, settle);
      for (const [id, { request }] of pending) send(opened, { id, request });
    } catch (error) {
      connecting = false;
      log('error', 'the process that judges statements of readers did not start', reasonOf(error));
      lost();
    }
  }

  return {
    judge(request) {
      if (closed) return Promise.reject(clickhouseError(236, 'The store is stopping.'));
      if (pending.size >= maxWaiting) {
        return Promise.reject(clickhouseError(202, `Too many simultaneous queries. Maximum: ${maxWaiting}`));
      }
      return new Promise((resolve, reject) => {
        const id = ++lastId;
        pending.set(id, { request, resolve, reject, losses: 0 });
        if (channel === null) void open();
        else send(channel, { id, request });
      });
    },
    close() {
      closed = true;
      if (idleTimer !== null) clearTimeout(idleTimer);
      channel?.destroy();
      lost();
    },
  };
}

function reasonOf(error: unknown): Readonly<Record<string, unknown>> {
  return { reason: error instanceof Error ? error.message : String(error) };
}

import type { Duplex } from 'node:stream';
import { clickhouseError, ClickHouseError } from '../clickhouse-error.ts';
import {
  receive,
  send,
  type PolicyAnswer,
  type PolicyQuestion,
  type ReaderRequest,
  type ReaderVerdict,
} from './messages.ts';

/** Where a reader's request is judged before anything of it reaches the engine. */
export interface ReaderPolicy {
  /**
   * @throws ClickHouseError for what may not be run; 159 for what takes too long to judge; 202 when too many
   *   wait
   */
  judge(request: ReaderRequest): Promise<ReaderVerdict>;
  close(): void;
}

export interface ReaderPolicyOptions {
  /** Starts the policy's process and gives the socket to it. Rejects when it cannot be started. */
  readonly connect: () => Promise<Duplex>;
  readonly log: (level: 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** A request on its way to a verdict. */
interface Pending {
  readonly request: ReaderRequest;
  readonly resolve: (verdict: ReaderVerdict) => void;
  readonly reject: (error: Error) => void;
  /** How often a process ended under it. */
  losses: number;
}

/** A request whose process was ended by others is asked again so often. */
const MAX_LOSSES = 3;

/** The requests that wait for a verdict, by their number. */
export function createPending(maxWaiting: number, log: ReaderPolicyOptions['log']) {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  return {
    get size() {
      return pending.size;
    },
    /** Each is asked when a process is there, and again when that has ended. */
    questions: (): PolicyQuestion[] => [...pending].map(([id, { request }]) => ({ id, request })),
    /**
     * @returns the question to ask, and the promise of its verdict
     * @throws ClickHouseError 202 when too many wait
     */
    add(request: ReaderRequest): { question: PolicyQuestion; verdict: Promise<ReaderVerdict> } {
      if (pending.size >= maxWaiting)
        throw clickhouseError(202, `Too many simultaneous queries. Maximum: ${maxWaiting}`);
      const { promise, resolve, reject } = Promise.withResolvers<ReaderVerdict>();
      const id = ++lastId;
      pending.set(id, { request, resolve, reject, losses: 0 });
      return { question: { id, request }, verdict: promise };
    },
    settle(answer: PolicyAnswer): void {
      const one = pending.get(answer.id);
      pending.delete(answer.id);
      if (one === undefined) return;
      if ('verdict' in answer) one.resolve(answer.verdict);
      else if ('stuck' in answer) {
        log('warn', 'a statement of a reader took too long to judge', { bytes: one.request.body.byteLength });
        one.reject(clickhouseError(159, 'The statement takes too long to read: make it simpler.'));
      } else one.reject(new ClickHouseError(answer.code, answer.message));
    },
    /** The process has ended: those that were lost too often are given up, and all when it was the last. */
    lose(isLast: boolean): void {
      for (const [id, one] of pending) {
        one.losses += 1;
        if (one.losses < MAX_LOSSES && !isLast) continue;
        pending.delete(id);
        one.reject(clickhouseError(236, 'The statement could not be judged. Try again.'));
      }
    },
  };
}

/** Requests waiting at once; more are refused. */
const MAX_WAITING = 256;
/** The policy's process ends when nobody has asked for this long: it holds some 70 MB. */
const IDLE_MS = 300_000;

/** Starts the policy's process when it is wanted, and anew when it has ended. */
export function createReaderPolicy(options: ReaderPolicyOptions): ReaderPolicy {
  const { connect, log } = options;
  const pending = createPending(MAX_WAITING, log);
  let channel: Duplex | null = null;
  let connecting = false;
  let closed = false;
  let idleTimer: NodeJS.Timeout | null = null;

  function settle(answer: PolicyAnswer): void {
    const before = pending.size;
    pending.settle(answer);
    if (pending.size > 0 || before === 0) return;
    if (idleTimer !== null) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => channel?.destroy(), IDLE_MS);
    idleTimer.unref();
  }

  function lost(): void {
    channel = null;
    pending.lose(closed);
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
      receive<PolicyAnswer>(opened, settle);
      for (const question of pending.questions()) send(opened, question);
    } catch (error) {
      connecting = false;
      log('error', 'the process that judges statements of readers did not start', reasonOf(error));
      lost();
    }
  }

  return {
    async judge(request) {
      if (closed) throw clickhouseError(236, 'The store is stopping.');
      const { question, verdict } = pending.add(request);
      if (channel === null) void open();
      else send(channel, question);
      return verdict;
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

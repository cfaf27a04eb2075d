/** Counters of the sandbox since it began. `GET /admin/stats` shows them. */
export interface SandboxStats {
  orders: {
    created: number;
    dropped: number;
    byOutcome: Record<string, number>;
    byChannel: Record<string, number>;
  };
  /** By HTTP status; `none` where no answer was given. */
  createRequests: Record<string, number>;
  statusRequests: Record<string, number>;
  callbacks: {
    /** Handed to the sender. */
    queued: number;
    /** Requests made, retries included. */
    sent: number;
    /** Answered with 2xx. */
    acknowledged: number;
    /** Cut off, not answered in time, or answered with 5xx: taken or not, which cannot be known here. */
    uncertain: number;
    retried: number;
    /** Given up after the last retry. */
    failed: number;
    /** Dropped from a full queue, or kept back by a fault. */
    dropped: number;
    /** No address, or a type that the merchant did not ask for. */
    notWanted: number;
    byType: Record<string, number>;
  };
  watch: { queued: number; acknowledged: number; failed: number };
  faults: Record<string, number>;
}

export function createStats(): SandboxStats {
  return {
    orders: { created: 0, dropped: 0, byOutcome: {}, byChannel: {} },
    createRequests: {},
    statusRequests: {},
    callbacks: {
      queued: 0,
      sent: 0,
      acknowledged: 0,
      uncertain: 0,
      retried: 0,
      failed: 0,
      dropped: 0,
      notWanted: 0,
      byType: {},
    },
    watch: { queued: 0, acknowledged: 0, failed: 0 },
    faults: {},
  };
}

export function count(counters: Record<string, number>, key: string | number): void {
  counters[key] = (counters[key] ?? 0) + 1;
}

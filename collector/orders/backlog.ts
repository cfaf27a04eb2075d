/** Replies that wait for the store's acknowledgement: when they are too many or too large, polling pauses. */
export interface Backlog {
  received(bytes: number): void;
  stored(bytes: number): void;
  isFull(answers: number): boolean;
}

export function createBacklog(limits: {
  readonly maxPendingAnswers?: number;
  readonly maxPendingBytes?: number;
}): Backlog {
  const { maxPendingAnswers = 5000, maxPendingBytes = 32 << 20 } = limits;
  let pendingBytes = 0;
  return {
    received(bytes) {
      pendingBytes += bytes;
    },
    stored(bytes) {
      pendingBytes -= bytes;
    },
    isFull: (answers) => answers >= maxPendingAnswers || pendingBytes >= maxPendingBytes,
  };
}

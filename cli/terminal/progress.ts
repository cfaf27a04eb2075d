import type { Host } from '../host.ts';

const QUIET_MS = 2000;
const CLEAR_LINE = '\r\u001b[2K';

/** Says on a terminal what is being waited for, once it has taken two seconds; elsewhere says nothing. */
export async function withProgress<T>(host: Host, what: string, work: Promise<T>): Promise<T> {
  if (!host.stderr.isTty) return work;
  const startedAt = performance.now();
  let shown = false;
  const tick = () => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < QUIET_MS) return;
    shown = true;
    const text = `${what} ... ${Math.floor(elapsedMs / 1000)} s`;
    void host.stderr.write(CLEAR_LINE + host.stderr.paint('dim', text));
  };
  const timer = setInterval(tick, 500);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (shown) void host.stderr.write(CLEAR_LINE);
  }
}

/** The same as a callback, for parts that know no terminal. */
export const progressOn =
  (host: Host) =>
  <T>(what: string, work: Promise<T>): Promise<T> =>
    withProgress(host, what, work);

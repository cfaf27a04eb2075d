import { spawn } from 'node:child_process';
import type { Clock } from '../schemas/clock.ts';
import type { Environment } from '../schemas/config.ts';

/** Signs of life within the time that systemd waits for one. */
const SIGNS = 3;

/**
 * Reports to systemd that the event loop turns, where the unit has WatchdogSec: a process that stands still
 * is killed and started anew. By the program `systemd-notify`, since Node speaks to no datagram socket of
 * Unix.
 */
export function startSystemdWatchdog(env: Environment, clock: Clock): () => void {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: withinUs } = env;
  const everyMs = Number(withinUs) / 1000 / SIGNS;
  if (socket === undefined || !(everyMs > 0)) return () => undefined;
  let cancel = (): void => undefined;
  const beat = (): void => {
    cancel = clock.after(everyMs, beat);
    const program = spawn('systemd-notify', ['WATCHDOG=1'], { env, stdio: 'ignore' });
    // Without it no sign comes, and systemd says so itself.
    program.once('error', () => undefined);
  };
  beat();
  return () => cancel();
}

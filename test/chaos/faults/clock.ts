import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sleep } from '../../../schemas/deadline.ts';
import { until } from '../arm.ts';
import { recover, type Fault } from './fault.ts';

const LIBRARIES = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1',
];

/** Debian's libfaketime, when it is installed. */
export const fakeClockLibrary = (): string | null => LIBRARIES.find((file) => existsSync(file)) ?? null;

/** Seconds by which the wall clock is off, one step after the other. It ends where it began. */
const STEPS_S = [120, -90, 20, 0];
const STEP_LASTS_MS = 4000;
const PATIENCE_MS = 15_000;

/** The collector's wall clock jumps forth and back while its monotonic clock runs on. */
export function clockSteps(library: string): Fault {
  return {
    name: 'clock step',
    weightS: 30,
    async run(scene) {
      const { arm, main, record } = scene;
      const file = path.join(arm.folder, 'clock');
      writeFileSync(file, '+0');
      const before = main.env;
      main.env = {
        ...before,
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
      await main.program.stop();
      main.program.start();
      await recover(scene, 'restart', main);
      for (const seconds of STEPS_S) {
        writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`);
        await sleep(STEP_LASTS_MS);
        if (seconds === 0) continue;
        const isSeen = async (): Promise<boolean> => {
          const [seen] = await arm
            .query<{ n: number }>(
              `SELECT count() AS n FROM polls WHERE abs(dateDiff('second', now(), started_at) - ${seconds}) < 8
AND collector_id = '${main.name}'`,
            )
            .catch(() => []);
          return (seen?.n ?? 0) > 0;
        };
        // On a busy machine a read takes its time into the table.
        const came = await until(isSeen, PATIENCE_MS, 'a read').then(
          () => true,
          () => false,
        );
        if (came) record.happened('clock step', 'reads that carry the time of the stepped clock');
        else record.missed('clock step', `no read carries a time ${seconds} s off`);
      }
      main.env = before;
      await main.program.stop();
      main.program.start();
      await recover(scene, 'restart', main);
    },
  };
}

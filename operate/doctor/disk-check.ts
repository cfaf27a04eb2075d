import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fail, ok, warn, type Check } from './check.ts';

const GIB = 1024 ** 3;
const FAIL_BELOW_BYTES = 0.5 * GIB;
const WARN_BELOW_BYTES = 5 * GIB;

/** Free space where the embedded store lives, or will live. */
export function diskCheck(dataDir: string): Check {
  const name = 'disk';
  return {
    name,
    async run() {
      const { bavail, bsize } = await nearest(resolve(dataDir));
      const free = bavail * bsize;
      const text = `${(free / GIB).toFixed(1)} GiB free for ${dataDir}.`;
      const advice =
        'Make room, set GATEWATCH_DATA_DIR to another disk, or keep rows for fewer days (retention).';
      if (free < FAIL_BELOW_BYTES) return [fail(name, text, advice)];
      return [free < WARN_BELOW_BYTES ? warn(name, text, advice) : ok(name, text)];
    },
  };
}

async function nearest(folder: string): Promise<{ bavail: number; bsize: number }> {
  try {
    return await statfs(folder);
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === folder) throw error;
    return nearest(parent);
  }
}

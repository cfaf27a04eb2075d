import { existsSync } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withEmbedded, type TestStore } from '../support/embedded.ts';

const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 * 1024 ** 3;

/**
 * An embedded store in memory, where there is room: what the disk has to do with other things is no part of a
 * comparison.
 */
export async function withBenchStore(): Promise<TestStore> {
  const dataDir = await mkdtemp(join((await hasRoom(MEMORY)) ? MEMORY : tmpdir(), 'gatewatch-bench-'));
  const embedded = await withEmbedded({ dataDir });
  return {
    ...embedded,
    async stop() {
      await embedded.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function hasRoom(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= ROOM_BYTES;
}

setFlagsFromString('--expose-gc');
/** Before each timing, so that neither side pays for what the other left behind. */
export const collectGarbage = runInNewContext('gc') as () => void;

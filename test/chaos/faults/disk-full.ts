import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { sleep } from '../../../schemas/deadline.ts';
import { recoverStore } from './kill-store.ts';
import type { Fault } from './fault.ts';

const run = promisify(execFile);

/** A small disk in memory whose size can be changed. */
export interface SmallDisk {
  readonly folder: string;
  /** No room for anything but a last few pages. */
  fill(): Promise<void>;
  relieve(): Promise<void>;
  remove(): Promise<void>;
}

const SIZE_BYTES = 6 * 1024 ** 3;
const LEFT_BYTES = 256 * 1024;

/** Mounts one. Null, with the reason, where that is not allowed. */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | { reason: string }> {
  mkdirSync(folder, { recursive: true });
  const resize = (bytes: number) => run('mount', ['-o', `remount,size=${bytes}`, folder]);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_BYTES},mode=700`, 'tmpfs', folder]);
  } catch (error) {
    return { reason: `no tmpfs may be mounted here: ${String((error as Error).message).split('\n')[0]}` };
  }
  // Whoever interrupts a run must not be left with the mount.
  const leave = () => void spawnSync('umount', ['-l', folder]);
  process.once('exit', leave);
  return {
    folder,
    async fill() {
      const { blocks, bfree, bsize } = await statfs(folder);
      await resize((blocks - bfree) * bsize + LEFT_BYTES);
    },
    async relieve() {
      await resize(SIZE_BYTES);
    },
    async remove() {
      process.off('exit', leave);
      await run('umount', ['-l', folder]).catch(() => undefined);
    },
  };
}

const FULL_S = 15;
/** Two topics with six partitions each. */
const MOST_COMMITS_A_BATCH = 12;

export function diskFull(disk: SmallDisk): Fault {
  return {
    name: 'disk full',
    weightS: FULL_S + 8,
    async run(scene) {
      const { main, record } = scene;
      const refused = new Map<number, number>();
      let acknowledged = 0;
      let commits = 0;
      let isFull = false;
      const watches = [
        main.links.store?.onAnswered(({ name, status, errorCode }) => {
          if (!name.startsWith('insert ')) return;
          if (status !== 200) refused.set(errorCode ?? 0, (refused.get(errorCode ?? 0) ?? 0) + 1);
          else if (isFull && name === 'insert ingest_ledger') acknowledged += 1;
        }),
        main.links.kafka.onAnswered(({ name, status }) => {
          if (isFull && name === 'OffsetCommit' && status === 0) commits += 1;
        }),
      ];
      await disk.fill();
      // Parts that were begun before may still find room.
      await sleep(3000);
      isFull = true;
      await sleep(FULL_S * 1000);
      const ready = await main.isReady();
      isFull = false;
      await disk.relieve();
      const codes = [...refused].map(([code, times]) => `${times} x error ${code}`).join(', ');
      if (refused.size === 0) record.missed('disk full', 'no insert was refused');
      else record.happened('disk full', `inserts refused for ${FULL_S} s: ${codes}`);
      // One batch may hold records of every partition, and each partition is committed by itself.
      if (commits > acknowledged * MOST_COMMITS_A_BATCH)
        record.failed(`disk full: ${commits} commits, but only ${acknowledged} batches acknowledged`);
      if (ready && acknowledged === 0)
        record.failed('disk full: the collector said it was ready and stored nothing');
      await recoverStore(scene, 'disk full', performance.now());
      for (const forget of watches) forget?.();
    },
  };
}

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says that a folder is the demo's own, and which process used it last. */
export const MARKER = 'gatewatch-demo.json';
/** What a running store leaves in its folder for commands to find it. */
const STORE = 'embedded.json';

/** What the system knows of processes, by their numbers. */
export interface Processes {
  /** The demo's own. */
  readonly pid: number;
  isAlive(pid: number): boolean;
}

/** The demo must not empty this folder. */
export class FolderRefused extends Error {}

/**
 * Makes an empty folder for the demo. Empties one only if an earlier demo has marked it as its own and
 * nothing uses it: anything else there belongs to somebody.
 *
 * @throws FolderRefused with what to do instead
 */
export function claimDataFolder(folder: string, processes: Processes): void {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined) refuseUnlessOurs(folder, found, processes);
  mkdirSync(folder, { recursive: true });
  const entries = readdirSync(folder).filter((name) => name !== MARKER);
  // The marker goes last and comes first: a demo that is killed here leaves a folder that the next one knows.
  const note = 'The demo of gatewatch empties this folder whenever it starts.';
  writeFileSync(join(folder, MARKER), `${JSON.stringify({ note, pid: processes.pid })}\n`);
  for (const name of entries) rmSync(join(folder, name), { recursive: true, force: true });
}

function refuseUnlessOurs(folder: string, found: Stats, { isAlive }: Processes): void {
  // Behind a link lies a folder that somebody chose for something else.
  if (!found.isDirectory()) throw refused(folder, 'is not a folder');
  const entries = readdirSync(folder);
  if (entries.length === 0) return;
  for (const name of [STORE, MARKER]) {
    const user = pidIn(join(folder, name));
    if (user !== null && isAlive(user))
      throw new FolderRefused(
        `The data folder ${folder} is in use by process ${user}. Stop that first, or name another folder with --data-dir.`,
      );
  }
  if (!entries.includes(MARKER)) throw refused(folder, "holds files that are not the demo's");
}

const refused = (folder: string, reason: string): FolderRefused =>
  new FolderRefused(
    `The data folder ${folder} ${reason}, and the demo empties its folder. Name a new one with --data-dir, or remove this one yourself.`,
  );

function pidIn(file: string): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown };
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? Number(pid) : null;
  } catch {
    return null;
  }
}

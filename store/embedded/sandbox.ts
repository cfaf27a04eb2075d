import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { platform } from 'node:os';
import type koffiPackage from 'koffi';
import type { SandboxState } from './child-protocol.ts';

export type Koffi = typeof koffiPackage;

/** Loads the package that makes system calls; null where it is not installed. */
export async function loadKoffi(): Promise<Koffi | null> {
  return import('koffi').then(
    (loaded) => loaded.default,
    () => null,
  );
}

/** What a sandboxed process may still open. All other files and the network are closed to it. */
export interface SandboxOptions {
  /** Folders whose files it may read, write, make and remove. */
  readonly writable: readonly string[];
  /** Files and folders that it may read. What is not there is passed over. */
  readonly readable: readonly string[];
  /** A file that it must not be able to read afterwards; reading it is tried, as a proof. */
  readonly forbidden: string;
}

/**
 * What the engine reads outside of its folders: sizes of the machine and of this process, randomness, time
 * zones. It measures each of its threads, at every statement and block; refused, it made an error with its
 * stack of each time, which was half of a short statement's work. Threads come and go, so all of their files
 * are open; the environment among them is empty of secrets (`child-process.ts`), and links out of there stay
 * closed.
 */
export const ENGINE_READS: readonly string[] = [
  '/dev/null',
  '/dev/urandom',
  '/etc/localtime',
  '/proc/meminfo',
  '/proc/self/maps',
  '/proc/self/stat',
  '/proc/self/statm',
  '/proc/self/task',
  '/sys/devices/system/cpu',
  '/sys/fs/cgroup',
  '/usr/share/zoneinfo',
];

/** Linux system calls, with the same numbers on every architecture that Node runs on. */
const SYSCALL = { createRuleset: 444, addRule: 445, restrictSelf: 446 } as const;
const PR_SET_NO_NEW_PRIVS = 38;
const CREATE_RULESET_VERSION = 1;
const RULE_PATH_BENEATH = 1;
/** Open a path without its content, to name it in a rule. */
const O_PATH = 0o10000000;

/** Landlock's rights over files, in the order of their bits; the number is the version that added them. */
const FILE_RIGHTS = [
  ['execute', 1], ['writeFile', 1], ['readFile', 1], ['readDir', 1], ['removeDir', 1], ['removeFile', 1],
  ['makeChar', 1], ['makeDir', 1], ['makeReg', 1], ['makeSock', 1], ['makeFifo', 1], ['makeBlock', 1], ['makeSym', 1],
  ['refer', 2], ['truncate', 3], ['ioctlDev', 5],
] as const; // prettier-ignore
type FileRight = (typeof FILE_RIGHTS)[number][0];

const READ: readonly FileRight[] = ['readFile', 'readDir'];
/** Symbolic links too: the engine makes one for each table. A link opens nothing that the sandbox closes. */
const WRITE: readonly FileRight[] = [
  ...READ, 'writeFile', 'removeDir', 'removeFile', 'makeDir', 'makeReg', 'makeSym', 'refer', 'truncate',
]; // prettier-ignore
const NETWORK_SINCE = 4;
const SCOPES_SINCE = 6;

/**
 * Puts this process into a Landlock sandbox: the second line of defence, should a statement get past the
 * checks of readers' SQL. It needs no privileges and cannot be undone.
 *
 * It covers this thread and those that it starts from now on: call it before anything uses the thread pool.
 *
 * @param koffi the package that makes system calls, or null when it is not installed
 */
export function enterSandbox(options: SandboxOptions, koffi: Koffi | null): SandboxState {
  if (platform() !== 'linux') return inactive('Landlock is a feature of Linux');
  if (koffi === null) return inactive('the optional package koffi is not installed');
  const libc = koffi.load(null);
  const syscall = libc.func('long syscall(long number, ...)');
  const call = (number: number, ...args: unknown[]): number => Number(syscall(number, ...args));
  const abi = call(SYSCALL.createRuleset, 'void *', null, 'size_t', 0, 'uint32_t', CREATE_RULESET_VERSION);
  if (abi < 1) return inactive('this kernel has no Landlock, or it is switched off');

  const rules = call(
    SYSCALL.createRuleset,
    'void *',
    attributes(abi),
    'size_t',
    attributes(abi).length,
    'uint32_t',
    0,
  );
  if (rules < 0) return inactive('the kernel refused the rules');
  try {
    for (const path of options.writable) addRule(call, rules, path, bitsOf(WRITE, abi));
    for (const path of options.readable) {
      if (existsSync(path))
        addRule(call, rules, path, bitsOf(statSync(path).isDirectory() ? READ : ['readFile'], abi));
    }
    const prctl = libc.func(
      'int prctl(int option, unsigned long, unsigned long, unsigned long, unsigned long)',
    );
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0)
      return inactive('the kernel refused to give privileges up');
    if (call(SYSCALL.restrictSelf, 'int', rules, 'uint32_t', 0) !== 0)
      return inactive('the kernel refused the sandbox');
  } finally {
    closeSync(rules);
  }
  return isReadable(options.forbidden)
    ? inactive('the sandbox was entered and has no effect')
    : { active: true, abi };
}

type Call = (number: number, ...args: unknown[]) => number;

function addRule(call: Call, rules: number, path: string, rights: bigint): void {
  const named = openSync(path, O_PATH);
  try {
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(rights);
    rule.writeInt32LE(named, 8);
    const added = call(
      SYSCALL.addRule,
      'int',
      rules,
      'int',
      RULE_PATH_BENEATH,
      'void *',
      rule,
      'uint32_t',
      0,
    );
    if (added !== 0) throw new Error(`Landlock takes no rule for ${path}`);
  } finally {
    closeSync(named);
  }
}

/** Everything that this version knows is refused unless a rule allows it. */
function attributes(abi: number): Buffer {
  const all = FILE_RIGHTS.map(([name]) => name);
  const words = [
    bitsOf(all, abi),
    ...(abi >= NETWORK_SINCE ? [3n] : []),
    ...(abi >= SCOPES_SINCE ? [3n] : []),
  ];
  const buffer = Buffer.alloc(words.length * 8);
  words.forEach((word, index) => buffer.writeBigUInt64LE(word, index * 8));
  return buffer;
}

function bitsOf(rights: readonly FileRight[], abi: number): bigint {
  let bits = 0n;
  FILE_RIGHTS.forEach(([name, since], bit) => {
    if (since <= abi && rights.includes(name)) bits |= 1n << BigInt(bit);
  });
  return bits;
}

function isReadable(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch (error) {
    // A file that is not there proves nothing.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

const inactive = (reason: string): SandboxState => ({ active: false, reason });

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A password or key: made once, kept in a file that only its owner reads. Two processes that create it at the
 * same time end up with the same one, because the finished file is linked into place and the first link wins.
 *
 * @param made what it is when there is none yet. @default 256 random bits
 */
export function readOrCreateSecret(file: string, made = randomBytes(32).toString('base64url')): string {
  const existing = readSecret(file);
  if (existing !== null) return existing;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${made}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  return readOrCreateSecret(file);
}

/** The stored password, or `null` when none was made yet. Puts the file's mode right if it was loosened. */
export function readSecret(file: string): string | null {
  try {
    const secret = readFileSync(file, 'utf8').trim();
    if (secret === '') throw new Error(`The password in ${file} is empty: delete the file to get a new one.`);
    chmodSync(file, 0o600);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * What the engine's process knows of a password: enough to recognize it, and of no use to whoever reads that
 * process's memory, since a password has 256 random bits.
 */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares digests, so that neither the content nor the length shows in the time it takes. */
export function matchesDigest(given: string, digest: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(given), 'hex'), Buffer.from(digest, 'hex'));
}

/**
 * Proves knowledge of the writer's digest without showing it: a command checks this before it sends the
 * password to an address from a file, whose port may belong to someone else by now.
 */
export function proofOfDigest(digest: string, nonce: string): string {
  return createHmac('sha256', digest).update(`gatewatch embedded store ${nonce}`).digest('hex');
}

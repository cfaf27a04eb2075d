import { createHmac, randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The writer's password: made once, kept in a file that only its owner reads. Two processes that create it at the same
 * time end up with the same one, because the finished file is linked into place and the first link wins.
 */
export function readOrCreateSecret(file: string): string {
  const existing = readSecret(file);
  if (existing !== null) return existing;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
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
    if (secret === '')
      throw new Error(`The writer's secret in ${file} is empty: delete the file to get a new one.`);
    chmodSync(file, 0o600);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Shows knowledge of the secret without telling it: a command checks this before it sends the password to an address
 * from a file, whose port may belong to someone else by now.
 */
export function proofOfSecret(secret: string, nonce: string): string {
  return createHmac('sha256', secret).update(`gatewatch embedded store ${nonce}`).digest('hex');
}

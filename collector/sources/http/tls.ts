import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsConfig } from '../../../schemas/config-http.ts';
import { GatewatchError } from '../../../schemas/errors.ts';

/** Certificate and key, as bytes that belong together. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws GatewatchError `config_invalid` when a file cannot be read or the two do not belong together */
export function readTlsFiles({ cert, key }: TlsConfig): TlsFiles {
  const files = { cert: read(cert), key: read(key) };
  try {
    createSecureContext(files);
  } catch (error) {
    // The code is enough, and never holds anything from the files.
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw invalid(`${cert} and ${key} are not a certificate and its key (${code})`);
  }
  return files;
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw invalid(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
  }
}

function invalid(problem: string): GatewatchError {
  return new GatewatchError(`The configuration has a problem:\n  - tls: ${problem}`, {
    code: 'config_invalid',
  });
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** PEM files of a certificate for 127.0.0.1 that signs itself, and lasts a day. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  /** The certificate itself, to be trusted by a client. */
  readonly pem: string;
}

/** Makes it in the folder, over one of the same name. */
export function makeCertificate(folder: string, name: string): Certificate {
  const files = { cert: path.join(folder, `${name}.crt`), key: path.join(folder, `${name}.key`) };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-days', '1', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...key, '-keyout', files.key, '-out', files.cert, ...names], {
    stdio: 'ignore',
  });
  return { ...files, pem: readFileSync(files.cert, 'utf8') };
}

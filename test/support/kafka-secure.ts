import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startOwnKafka } from './kafka-broker.ts';
import { freePort } from './kafka-process.ts';

const run = promisify(execFile);

/** A broker as companies run it, with certificates of an authority that nobody else knows. */
export interface SecureKafka {
  /** Without protection, for the test itself. */
  readonly open: string;
  /** TLS, and PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512 on top. */
  readonly saslSsl: string;
  /** TLS that asks for a certificate of the client. */
  readonly mutual: string;
  /** PEM files. */
  readonly files: { readonly ca: string; readonly clientCert: string; readonly clientKey: string };
  stop(): Promise<void>;
}

export const LOGIN = { username: 'gatewatch', password: 'pass-word-1' } as const;

/** True when certificates can be made here. */
export async function hasOpenssl(): Promise<boolean> {
  return run('openssl', ['version']).then(
    () => true,
    () => false,
  );
}

/** @param folder where the certificates go; they last a day */
export async function startSecureKafka(folder: string): Promise<SecureKafka> {
  const ca = await createAuthority(folder);
  const broker = await createCertificate(folder, 'broker', ca);
  const client = await createCertificate(folder, 'client', ca);
  // Kafka reads key and certificate from one file.
  const keystore = path.join(folder, 'broker.keystore.pem');
  await writeFile(keystore, `${await readFile(broker.key, 'utf8')}${await readFile(broker.cert, 'utf8')}`);

  const [port, controller, sasl, mutual] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const kafka = await startOwnKafka({
    port,
    scram: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map((mechanism) => ({ mechanism, ...LOGIN })),
    settings: {
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller},SASL://127.0.0.1:${sasl},MUTUAL://127.0.0.1:${mutual}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},SASL://127.0.0.1:${sasl},MUTUAL://127.0.0.1:${mutual}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,MUTUAL:SSL',
      'inter.broker.listener.name': 'PLAINTEXT',
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      'listener.name.sasl.plain.sasl.jaas.config': `${LOGIN_MODULE}.plain.PlainLoginModule required user_${LOGIN.username}="${LOGIN.password}";`,
      'listener.name.sasl.scram-sha-256.sasl.jaas.config': `${LOGIN_MODULE}.scram.ScramLoginModule required;`,
      'listener.name.sasl.scram-sha-512.sasl.jaas.config': `${LOGIN_MODULE}.scram.ScramLoginModule required;`,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': keystore,
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': ca.cert,
      'listener.name.mutual.ssl.client.auth': 'required',
    },
  });
  return {
    open: kafka.bootstrap,
    saslSsl: `127.0.0.1:${sasl}`,
    mutual: `127.0.0.1:${mutual}`,
    files: { ca: ca.cert, clientCert: client.cert, clientKey: client.key },
    stop: () => kafka.stop(),
  };
}

const LOGIN_MODULE = 'org.apache.kafka.common.security';
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

function filesOf(folder: string, name: string): KeyPair {
  return { key: path.join(folder, `${name}.key`), cert: path.join(folder, `${name}.pem`) };
}

async function createAuthority(folder: string): Promise<KeyPair> {
  const files = filesOf(folder, 'ca');
  const names = ['-subj', '/CN=Authority of a test', '-days', '1'];
  await run('openssl', ['req', '-x509', ...KEY, '-keyout', files.key, '-out', files.cert, ...names]);
  return files;
}

async function createCertificate(folder: string, name: string, ca: KeyPair): Promise<KeyPair> {
  const files = filesOf(folder, name);
  const request = path.join(folder, `${name}.csr`);
  const extensions = path.join(folder, `${name}.ext`);
  await writeFile(extensions, 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  await run('openssl', ['req', ...KEY, '-keyout', files.key, '-out', request, '-subj', `/CN=${name}`]);
  const signing = ['-CA', ca.cert, '-CAkey', ca.key, '-CAcreateserial', '-days', '1', '-extfile', extensions];
  await run('openssl', ['x509', '-req', '-in', request, '-out', files.cert, ...signing]);
  return files;
}

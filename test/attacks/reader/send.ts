import { request } from 'node:http';
import type { Attack } from './attack.ts';

/** A user of the store, and where it is. */
export interface Login {
  readonly url: string;
  readonly username: string;
  readonly password: string;
}

/** Sends an attack as a user of the store. @returns ClickHouse's code, `ok`, an HTTP status or `cut off` */
export function sendAs(
  { url, username, password }: Login,
  attack: Attack,
  signal?: AbortSignal,
): Promise<{ code: string; text: string }> {
  const headers = { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password, ...latin(attack.headers) };
  const target = `${url}/?${new URLSearchParams(attack.search)}`;
  return new Promise((resolve) => {
    const sent = request(target, { method: attack.method, headers, signal }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', () => undefined);
      reply.on('close', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const failure = reply.headers['x-clickhouse-exception-code'];
        resolve({ code: String(failure ?? (reply.statusCode === 200 ? 'ok' : reply.statusCode)), text });
      });
    });
    sent.on('error', () => resolve({ code: 'cut off', text: '' }));
    sent.end(attack.body ?? undefined);
  });
}

/** Headers hold bytes, not letters. */
function latin(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value, 'utf8').toString('latin1')]),
  );
}

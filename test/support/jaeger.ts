import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './kafka-process.ts';
import { buildGoProgram, type GoProgram } from './go-program.ts';
import { until } from './until.ts';

/**
 * Jaeger in one process. 1.62 is its newest version that can be built from Go modules with all that it needs:
 * of those that version 2 asks for, several were taken from the index of checksums.
 */
export const buildJaeger = (): Promise<GoProgram> =>
  buildGoProgram({ name: 'jaeger', package: 'github.com/jaegertracing/jaeger/cmd/all-in-one' });

/** As Jaeger's query API shows it; times in microseconds. */
export interface JaegerSpan {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly { readonly refType: string; readonly spanID: string }[];
  readonly startTime: number;
  readonly duration: number;
  readonly tags: readonly { readonly key: string; readonly value: string | number | boolean }[];
  readonly processID: string;
}

export interface JaegerTrace {
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

export interface Jaeger {
  /** Where it takes OTLP. */
  readonly http: string;
  readonly grpc: string;
  /** A trace by its id; null: not there (yet). */
  trace(traceId: string): Promise<JaegerTrace | null>;
  stop(): Promise<void>;
}

/** Settings that name a port, all of which have fixed defaults. */
const PORTS = [
  'collector.otlp.http.host-port',
  'collector.otlp.grpc.host-port',
  'query.http-server.host-port',
  'query.grpc-server.host-port',
  'collector.grpc-server.host-port',
  'collector.http-server.host-port',
  'admin.http.host-port',
  'http-server.host-port',
  'processor.jaeger-compact.server-host-port',
  'processor.jaeger-binary.server-host-port',
  'processor.zipkin-compact.server-host-port',
] as const;

/** Starts Jaeger with its store in memory, and waits until it answers. */
export async function startJaeger(path: string): Promise<Jaeger> {
  const addresses: string[] = [];
  for (const _ of PORTS) addresses.push(`127.0.0.1:${await freePort()}`);
  const args = PORTS.map((name, index) => `--${name}=${addresses[index]}`);
  const child = spawn(path, args, {
    env: { SPAN_STORAGE_TYPE: 'memory' },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const ended = once(child, 'close');
  const [http, grpc, query] = addresses;
  const ask = (what: string) => fetch(`http://${query}/api/${what}`);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  await until(
    'Jaeger to answer',
    async () => child.exitCode !== null || (await ask('services').catch(() => null))?.ok === true,
    (isOver) => isOver,
  ).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  if (child.exitCode !== null) throw new Error(`Jaeger ended with ${child.exitCode}.`);
  return {
    http: `http://${http}`,
    grpc: `http://${grpc}`,
    async trace(traceId) {
      const reply = await ask(`traces/${traceId}`);
      if (!reply.ok) return null;
      return ((await reply.json()) as { data: JaegerTrace[] }).data[0] ?? null;
    },
    stop,
  };
}

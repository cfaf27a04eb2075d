import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { createGrpcTransport } from '../../../../collector/sinks/otlp/grpc-transport.ts';

type Handle = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void;

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

const asIs = (bytes: Buffer): Buffer => bytes;
const SERVICE = {
  export: {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
} as const;

/** A transport to a real gRPC server that answers so. */
async function transportTo(handle: Handle, timeoutMs = 5000) {
  const server = new Server();
  server.addService(SERVICE, { export: handle });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const headers = { 'x-key': 'k' };
  const transport = createGrpcTransport({ endpoint: `http://127.0.0.1:${port}`, headers, timeoutMs });
  cleanUps.push(
    () => transport.close(),
    () => server.forceShutdown(),
  );
  return transport;
}

/** A google.rpc.Status with a RetryInfo of 1.5 s, as google's libraries encode it. */
function retryInfo(): Buffer {
  const url = 'type.googleapis.com/google.rpc.RetryInfo';
  const duration = Buffer.from([0x08, 1, 0x10, 0x80, 0xca, 0xb5, 0xee, 0x01]);
  const info = Buffer.concat([Buffer.from([0x0a, duration.length]), duration]);
  const any = Buffer.concat([
    Buffer.from([0x0a, url.length]),
    Buffer.from(url),
    Buffer.from([0x12, info.length]),
    info,
  ]);
  return Buffer.concat([Buffer.from([0x08, 8, 0x1a, any.length]), any]);
}

const request = Uint8Array.of(1, 2, 3);

describe('OTLP over gRPC', () => {
  it('sends the request as it is, with its headers, and gives the answer', async () => {
    const transport = await transportTo((call, answer) =>
      answer(null, Buffer.from(`${call.request.join()} ${String(call.metadata.get('x-key')[0])}`)),
    );
    expect(Buffer.from(await transport.post(request)).toString()).toBe('1,2,3 k');
  });

  it.each([
    ['INVALID_ARGUMENT', 'export_refused'],
    ['RESOURCE_EXHAUSTED', 'export_refused'],
    ['UNAUTHENTICATED', 'export_failed'],
    ['UNIMPLEMENTED', 'export_failed'],
    ['UNAVAILABLE', 'export_failed'],
  ] as const)('takes %s for %s', async (name, code) => {
    const transport = await transportTo((_, answer) => answer({ code: status[name], details: 'a secret' }));
    const error: unknown = await transport.post(request).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code, retryAfterMs: null, isPerhapsBusy: name === 'RESOURCE_EXHAUSTED' });
    expect(String(error)).not.toContain('secret');
  });

  it('reads for how long a busy receiver wants to be left alone', async () => {
    const metadata = new Metadata();
    metadata.set('grpc-status-details-bin', retryInfo());
    const transport = await transportTo((_, answer) =>
      answer({ code: status.RESOURCE_EXHAUSTED, details: '', metadata }),
    );
    await expect(transport.post(request)).rejects.toMatchObject({
      code: 'export_failed',
      retryAfterMs: 1500,
    });
  });

  it('gives up on a receiver that is silent, after its time limit', async () => {
    const transport = await transportTo(() => undefined, 200);
    await expect(transport.post(request)).rejects.toMatchObject({
      code: 'export_failed',
      message: 'the OTLP receiver answered DEADLINE_EXCEEDED',
    });
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { itemSpan, rootSpan } from '../../../../collector/decode/spans.ts';
import { createOtlpSender } from '../../../../collector/sinks/otlp/sender.ts';
import { historyEvent, settlement } from '../support/rows.ts';

/**
 * A build of the OpenTelemetry Collector with the `otlp` receiver and the `debug` exporter: any distribution
 * has them.
 */
const BINARY = process.env['GATEWATCH_OTELCOL'];

describe.skipIf(BINARY === undefined)('the OpenTelemetry Collector (GATEWATCH_OTELCOL)', () => {
  it('takes payment spans as they are', async () => {
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'gatewatch-otelcol-'));
    await writeFile(join(folder, 'config.yaml'), config(port));
    const collector = spawn(BINARY as string, ['--config', join(folder, 'config.yaml')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [collector.stdout, collector.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      await expect.poll(() => output).toContain('Everything is ready');
      const sender = createOtlpSender({
        version: '1.2.3',
        endpoint: `http://127.0.0.1:${port}`,
      });
      const at = Date.UTC(2026, 10, 21, 10, 15, 30) * 1000;
      await sender.send([
        itemSpan(historyEvent({ event_time: at + 250_000, span_start: at + 1 })),
        rootSpan(settlement()),
      ]);
      await sender.close();
      await expect.poll(() => output).toContain('payment.closure');
      for (const part of [
        /Trace ID\s*: e9aa68962ba7f508d810ef274ad7c745/,
        /Parent ID\s*: d715956db1b89fd4/,
        /ID\s*: 1c9b13a5a77bfaa2/,
        /Start time\s*: 2026-11-21 10:15:30\.000001 \+0000 UTC/,
        /End time\s*: 2026-11-21 10:15:30\.25 \+0000 UTC/,
        /Status code\s*: Error/,
        /payment\.reason_code: Int\(11\)/,
        /service\.name: Str\(acme-eu\)/,
      ]) {
        expect(output).toMatch(part);
      }
    } finally {
      collector.kill('SIGTERM');
      await once(collector, 'exit');
      await rm(folder, { recursive: true });
    }
  });
});

function config(port: number): string {
  return `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters: { debug: { verbosity: detailed } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: { receivers: [otlp], exporters: [debug] } }
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { KAFKA_VERSION } from './kafka-jars.ts';
import { brokerSettings, freePort, untilReady } from './kafka-process.ts';

const run = promisify(execFile);

/** True when a Docker engine answers. */
export async function hasDocker(): Promise<boolean> {
  return run('docker', ['info'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/**
 * Runs the `apache/kafka` image on a free loopback port. The container has a time limit of its own (one
 * hour), so that a killed test run leaves nothing behind for long.
 */
export async function startKafkaContainer(): Promise<{ bootstrap: string; stop(): Promise<void> }> {
  const port = await freePort();
  const bootstrap = `127.0.0.1:${port}`;
  const args = ['run', '--detach', '--rm', '--publish', `${bootstrap}:${port}`, '--stop-timeout', '5'];
  for (const [name, value] of brokerSettings('0.0.0.0', port, 9093)) {
    args.push('--env', `KAFKA_${name.toUpperCase().replaceAll('.', '_')}=${value}`);
  }
  args.push('--env', 'KAFKA_HEAP_OPTS=-Xmx384m', '--entrypoint', 'timeout');
  args.push(`apache/kafka:${KAFKA_VERSION}`, '3600', '/etc/kafka/docker/run');
  const { stdout } = await run('docker', args, { timeout: 300_000 });
  const container = stdout.trim();
  const stop = async (): Promise<void> => {
    await run('docker', ['rm', '--force', container]);
  };
  await untilReady(bootstrap, () => true).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { bootstrap, stop };
}

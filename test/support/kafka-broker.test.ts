import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { useKafka } from './kafka-broker.ts';
import { until } from './kafka-source.ts';

const helper = path.join(import.meta.dirname, 'kafka-broker.ts');
const shared = await useKafka();
const canStartOne = shared.available && shared.jars !== undefined;

async function accepts(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  const socket = createConnection(Number(port), host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe.skipIf(!canStartOne)('the broker for tests, as a command', () => {
  it.each(['SIGINT', 'SIGKILL'] as const)(
    'prints its address, and ends when its owner gets %s',
    async (signal) => {
      const owner = spawn(process.execPath, [helper], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(owner.stdout, 'data')) as [Buffer];
      const address = line.toString().trim();
      expect(await accepts(address)).toBe(true);
      owner.kill(signal);
      await once(owner, 'exit');
      await until('the broker to be gone', async () => !(await accepts(address)));
    },
  );
});

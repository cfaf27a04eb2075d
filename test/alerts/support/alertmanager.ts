import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { until } from '../../support/until.ts';

/** Debian's packages put it here. Tests that need it are left out where it is missing. */
const BINARY = ['/usr/bin/prometheus-alertmanager', '/usr/bin/alertmanager'].find((path) => existsSync(path));
export const HAS_ALERTMANAGER = BINARY !== undefined;

/** An alert as Alertmanager shows it. */
export interface HeldAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly status: { readonly state: string };
  readonly receivers: readonly { readonly name: string }[];
}

export interface AlertmanagerProcess {
  readonly url: string;
  alerts(): Promise<HeldAlert[]>;
  /** Groups of alerts, as they would be sent: the labels they share and the names of their members. */
  groups(): Promise<{ labels: Record<string, string>; receiver: string; alerts: string[] }[]>;
  stop(): Promise<void>;
}

/** A real Alertmanager with this configuration (YAML), on a port of its own. */
export async function startAlertmanager(config: string): Promise<AlertmanagerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'gatewatch-alertmanager-'));
  await writeFile(join(folder, 'alertmanager.yml'), config);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    BINARY ?? '',
    [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // A test run that is interrupted leaves none behind.
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const get = async <T>(path: string): Promise<T> =>
    (await fetch(`${url}/api/v2${path}`)).json() as Promise<T>;
  await until(
    `Alertmanager answers; it says ${log}`,
    () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    Boolean,
  );
  return {
    url,
    alerts: () => get<HeldAlert[]>('/alerts'),
    async groups() {
      const groups =
        await get<{ labels: Record<string, string>; receiver: { name: string }; alerts: HeldAlert[] }[]>(
          '/alerts/groups',
        );
      return groups.map(({ labels, receiver, alerts }) => ({
        labels,
        receiver: receiver.name,
        alerts: alerts.map((alert) => alert.labels['alertname'] ?? '').toSorted(),
      }));
    },
    async stop() {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
      process.off('exit', endWithUs);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A port that nothing listens on, for a process that must be given its own. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

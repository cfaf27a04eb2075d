import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { patchKafkajs } from '../../collector/sources/kafka/kafkajs-patches.ts';
import { PATIENCE_MS } from './until.ts';

const run = promisify(execFile);

patchKafkajs();

const STOP_TIMEOUT_MS = 10_000;
const JAVA_OPTIONS = ['-Xms64m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const LOG_OPTIONS = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'];

export interface KafkaProcess {
  /** `host:port`, for clients. */
  readonly bootstrap: string;
  /** The folder of Kafka's jars, for its command-line tools. */
  readonly jars: string;
  /** Stops the broker and deletes its data. */
  stop(): Promise<void>;
  /** Ends the broker at once (SIGKILL) and keeps its data for `start`. */
  kill(): Promise<void>;
  /** Starts the broker again on the same port and data. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay open, nothing answers. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
}

export interface KafkaProcessOptions {
  jars: string;
  /** @default a free port */
  port?: number;
  /** Broker settings laid over the defaults, e.g. `{ 'log.retention.ms': '1000' }`. */
  settings?: Record<string, string>;
  /** A further listener that asks for SASL/PLAIN credentials. */
  sasl?: { port: number; username: string; password: string };
  /** Users that log in with SCRAM, known to the broker from its first start. */
  scram?: readonly { mechanism: string; username: string; password: string }[];
}

/** Formats a KRaft log folder and runs one process that is broker and controller, on loopback. */
export async function startKafkaProcess(options: KafkaProcessOptions): Promise<KafkaProcess> {
  const { jars } = options;
  const folder = await mkdtemp(path.join(tmpdir(), 'gatewatch-kafka-'));
  const port = options.port ?? (await freePort());
  const bootstrap = `127.0.0.1:${port}`;
  const properties = path.join(folder, 'server.properties');
  const settings = brokerSettings('127.0.0.1', port, await freePort());
  settings.push(['log.dirs', path.join(folder, 'data')], ...Object.entries(options.settings ?? {}));
  if (options.sasl !== undefined) addSaslListener(settings, options.sasl);
  await writeFile(properties, settings.map(([name, value]) => `${name}=${value}\n`).join(''));
  const begin = async () => {
    await format(jars, properties, options.scram ?? []);
    return launch(jars, properties, bootstrap);
  };
  let broker = await begin().catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });

  return {
    bootstrap,
    jars,
    async stop() {
      await broker.end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
    kill: () => broker.end('SIGKILL'),
    async start() {
      broker = await launch(jars, properties, bootstrap);
    },
    freeze: () => broker.signal('SIGSTOP'),
    thaw: () => broker.signal('SIGCONT'),
  };
}

/** A TCP port on loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
}

/** Below those that the system gives to connections: one could take the port before its server does. */
const PORTS = { from: 15_000, count: 17_000 };

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

async function format(
  jars: string,
  properties: string,
  scram: NonNullable<KafkaProcessOptions['scram']>,
): Promise<void> {
  const clusterId = Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  // With a sign of equality: one id in 64 begins with a dash, and would be taken for an option.
  const tool = [
    '-cp',
    path.join(jars, '*'),
    'kafka.tools.StorageTool',
    'format',
    `--cluster-id=${clusterId}`,
  ];
  const users = scram.flatMap(({ mechanism, username, password }) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
  await run('java', ['-Xmx128m', ...JAVA_OPTIONS, ...LOG_OPTIONS, ...tool, '-c', properties, ...users]);
}

async function launch(jars: string, properties: string, bootstrap: string) {
  const java = ['java', '-Xmx384m', ...JAVA_OPTIONS, ...LOG_OPTIONS];
  const child = spawn(
    'sh',
    ['-c', GUARD, 'kafka', ...java, '-cp', path.join(jars, '*'), 'kafka.Kafka', properties],
    {
      // Its own session: Ctrl-C in a terminal reaches the test runner, which then stops the broker in order.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, KAFKA_FOLDER: path.dirname(properties) },
    },
  );
  const log: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log.push(text);
    if (log.length > 100) log.shift();
  });
  const pid = await firstLine(child);
  const exited = once(child, 'exit');
  let running = true;
  void exited.then(() => (running = false));
  // Nothing of the broker keeps the process of its owner alive.
  child.unref();
  for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();

  const signal = (name: NodeJS.Signals): void => {
    if (running) process.kill(pid, name);
  };
  const end = async (name: NodeJS.Signals): Promise<void> => {
    signal('SIGCONT');
    signal(name);
    const force = setTimeout(() => signal('SIGKILL'), STOP_TIMEOUT_MS);
    if (running) await exited;
    clearTimeout(force);
  };

  try {
    await untilReady(bootstrap, () => running);
  } catch (error) {
    await end('SIGKILL');
    throw new Error(`Kafka did not start on ${bootstrap}: ${log.join('').slice(-2000)}`, { cause: error });
  }
  return { signal, end };
}

// Runs its arguments, prints their pid, and kills them when descriptor 3 closes: whoever started the broker
// is gone, however it ended, and neither a broker nor its data outlives it.
const GUARD = `"$@" 3>&- >/dev/null & broker=$!
echo $broker
(read -r gone <&3; kill -9 $broker; rm -rf "$KAFKA_FOLDER") 2>/dev/null &
wait $broker; kill $! 2>/dev/null`;

async function firstLine(child: ChildProcess): Promise<number> {
  const [chunk] = (await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => ['']),
  ])) as unknown[];
  const pid = Number.parseInt(String(chunk), 10);
  if (!Number.isInteger(pid)) throw new Error('The broker process did not start: is java on the PATH?');
  return pid;
}

/**
 * Resolves when a broker answers at `bootstrap`; rejects when `running` turns false or `PATIENCE_MS` are
 * over.
 */
export async function untilReady(bootstrap: string, running: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING, retry: { retries: 0 } });
    const admin = kafka.admin();
    try {
      await admin.connect();
      const { brokers } = await admin.describeCluster();
      if (brokers.length > 0) return;
    } catch (error) {
      if (!running() || Date.now() > deadline) throw error;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

function addSaslListener(settings: Setting[], sasl: NonNullable<KafkaProcessOptions['sasl']>): void {
  for (const setting of settings) {
    if (setting[0].endsWith('listeners')) setting[1] += `,SASL_PLAINTEXT://127.0.0.1:${sasl.port}`;
    if (setting[0] === 'listener.security.protocol.map') setting[1] += ',SASL_PLAINTEXT:SASL_PLAINTEXT';
  }
  const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
  settings.push(
    ['sasl.enabled.mechanisms', 'PLAIN'],
    ['inter.broker.listener.name', 'PLAINTEXT'],
    [
      'listener.name.sasl_plaintext.plain.sasl.jaas.config',
      `${login} user_${sasl.username}="${sasl.password}";`,
    ],
  );
}

type Setting = [name: string, value: string];

/** Settings of a lone broker for tests, as `server.properties` names them; a later one of a name wins. */
export function brokerSettings(host: string, port: number, controllerPort: number): Setting[] {
  const settings: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    // Tests join and leave groups all the time: no waiting for more members, short sessions allowed.
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
    // A broker that was killed may come back after this time; the usual is 9 s.
    'broker.session.timeout.ms': '2000',
    'broker.heartbeat.interval.ms': '500',
    'log.retention.check.interval.ms': '1000',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'background.threads': '2',
  };
  return Object.entries(settings);
}

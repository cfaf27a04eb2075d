import { startOwnKafka } from '../../support/kafka-broker.ts';
import { freePort, type KafkaProcess } from '../../support/kafka-process.ts';
import { createTopic } from '../../support/kafka-topics.ts';

export interface Broker extends Pick<KafkaProcess, 'kill' | 'start' | 'freeze' | 'thaw' | 'stop'> {
  /** For the oracle: past all proxies. */
  readonly direct: string;
  /** Where the proxy of a collector connects to. A client that comes in here gets the proxy's port. */
  doorOf(collector: number): number;
}

/** A real broker with one listener a collector, which advertises that collector's proxy. */
export async function startBroker(proxyPorts: readonly number[]): Promise<Broker> {
  const [port, controller] = [await freePort(), await freePort()];
  const doors: number[] = [];
  for (const _ of proxyPorts) doors.push(await freePort());
  const names = proxyPorts.map((_, index) => `COLLECTOR${index}`);
  const at = (ports: readonly number[]) => names.map((name, index) => `${name}://127.0.0.1:${ports[index]}`);
  const kafka = await startOwnKafka({
    port,
    settings: {
      listeners: [
        `PLAINTEXT://127.0.0.1:${port}`,
        `CONTROLLER://127.0.0.1:${controller}`,
        ...at(doors),
      ].join(),
      'advertised.listeners': [`PLAINTEXT://127.0.0.1:${port}`, ...at(proxyPorts)].join(),
      'listener.security.protocol.map': ['PLAINTEXT', 'CONTROLLER', ...names]
        .map((name) => `${name}:PLAINTEXT`)
        .join(),
      'inter.broker.listener.name': 'PLAINTEXT',
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    },
  });
  const { kill, start, freeze, thaw, stop } = kafka;
  return { direct: kafka.bootstrap, doorOf: (index) => doors[index] ?? 0, kill, start, freeze, thaw, stop };
}

export const TOPICS = { callbacks: 'chaos.callbacks', orders: 'chaos.orders' } as const;
export const PARTITIONS = 6;

export async function createTopics(broker: Broker): Promise<void> {
  for (const topic of Object.values(TOPICS)) {
    const create = () => createTopic([broker.direct], topic, { partitions: PARTITIONS });
    // A busy broker may know of the topic before it serves it: then the second call finds it there.
    await create().catch(create);
  }
}

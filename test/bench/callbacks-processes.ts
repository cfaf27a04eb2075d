import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createStore } from '../../store/store.ts';
import { uniqueName } from '../support/kafka-topics.ts';
import {
  countStored,
  createPipeline,
  fillTopic,
  type FilledTopic,
  type PipelineEvents,
  withBrokers,
} from './callback-pipeline.ts';
import { cpuBetween, type CpuTimes, cpuTimes, untilIdle } from './cpu.ts';
import { type BenchSink, createBenchSink, withSink } from './pipeline-sink.ts';

/**
 * Callbacks a second by one process and by several that share a topic's partitions and a store, in turns:
 * what a second thread could bring, with the largest part it could have.
 * `node test/bench/callbacks-processes.ts [rounds]`.
 */

const ORDERS = 60_000;
const PROCESSES = [1, 2];
/** Members join one after the other, and each join stops those before it: what follows is measured. */
const MEASURED_FROM = 1 / 3;

/** What a member of the group is given. */
interface MemberTask extends Pick<FilledTopic, 'brokers' | 'topic'> {
  readonly groupId: string;
  readonly store: { readonly url: string; readonly username: string; readonly password: string };
}
type FromMember = 'ready' | { readonly partition: number; readonly offset: number };

interface Measured {
  /** Callbacks a second. */
  readonly rate: number;
  /** Processor time a callback in microseconds, of all members, their joining included, and of the store. */
  readonly members: number;
  readonly store: number;
}

/** Runs until it is killed. */
function runMember({ store: access, groupId, ...topic }: MemberTask): void {
  const store = createStore(access);
  const { write } = createBenchSink(store, `bench-${process.pid}`);
  const events: PipelineEvents = {
    handling: () => undefined,
    committed: (partition, offset) => report({ partition, offset }),
    failed(error) {
      throw error;
    },
  };
  const source = createPipeline(topic, groupId, { store, write }, events);
  process.once('message', () => void source.start());
  report('ready');
}

const report = (message: FromMember): void => void process.send?.(message);

/** One topic from its beginning to its end by so many processes. */
async function measure(filled: FilledTopic, processes: number, { embedded }: BenchSink): Promise<Measured> {
  const { brokers, topic } = filled;
  const store = { url: embedded.url, ...embedded.writer };
  const task: MemberTask = { brokers, topic, groupId: uniqueName('members'), store };
  const members = Array.from({ length: processes }, () =>
    fork(import.meta.filename, ['--member', JSON.stringify(task)]),
  );
  try {
    await Promise.all(members.map((member) => once(member, 'message')));
    const before = cpuTimes();
    const part = rateOf(filled, members);
    for (const member of members) member.send('go');
    const rate = await part;
    const ended = cpuTimes();
    // What the store merges afterwards is part of the price.
    await untilIdle(embedded.store.pid);
    const pids = new Set(members.map(({ pid }) => pid));
    const each = (after: CpuTimes, of: (pid: number) => boolean) =>
      (cpuBetween(before, after, of) * 1000) / filled.records;
    return {
      rate,
      members: each(ended, (pid) => pids.has(pid)),
      store: each(cpuTimes(), (pid) => pid === embedded.store.pid),
    };
  } finally {
    for (const member of members) member.kill('SIGKILL');
  }
}

/** Callbacks a second, from the moment that all members have joined for good until everything is stored. */
function rateOf({ records }: FilledTopic, members: readonly ChildProcess[]): Promise<number> {
  const storedAfter = countStored();
  let begun: { readonly at: number; readonly stored: number } | null = null;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  for (const member of members) {
    member.once('exit', (code) => reject(new Error(`A member ended with ${code}.`)));
    member.on('message', ({ partition, offset }: Exclude<FromMember, 'ready'>) => {
      const stored = storedAfter(partition, offset);
      if (stored >= records * MEASURED_FROM) begun ??= { at: performance.now(), stored };
      if (stored === records && begun !== null)
        resolve(((stored - begun.stored) * 1000) / (performance.now() - begun.at));
    });
  }
  return promise;
}

async function main(): Promise<void> {
  const rounds = Number(process.argv[2] ?? 3);
  await withBrokers((brokers) =>
    withSink(async (sink) => {
      for (let round = 0; round < rounds; round += 1)
        for (const processes of PROCESSES) {
          const filled = await fillTopic(brokers, ORDERS, round * PROCESSES.length + processes);
          await untilIdle(sink.embedded.store.pid);
          const { rate, members, store } = await measure(filled, processes, sink);
          console.log(
            `${processes} processes: ${Math.round(rate)} callbacks a second, ` +
              `${members.toFixed(1)} us in them and ${store.toFixed(1)} us in the store`,
          );
        }
    }),
  );
}

if (import.meta.main) {
  const [mode, task] = process.argv.slice(2);
  if (mode === '--member') runMember(JSON.parse(task ?? '') as MemberTask);
  else await main();
}

import { sleep, withDeadline } from '../../../schemas/deadline.ts';
import type { Link } from '../wire/link.ts';
import type { Moment } from '../wire/exchange.ts';
import type { Fault } from './fault.ts';

type Way = 'store' | 'kafka' | 'gateway';
const WAYS: readonly Way[] = ['store', 'kafka', 'gateway'];

interface Trouble {
  readonly name: string;
  readonly seconds: number;
  readonly make: (link: Link, seconds: number) => Promise<number>;
}

/** Each returns how much was seen to be hit, in the unit that its name says. */
const TROUBLES: readonly Trouble[] = [
  {
    name: 'latency',
    seconds: 5,
    async make(link, seconds) {
      const before = link.counts.delayedPieces;
      link.set({ latencyMs: 150 });
      await sleep(seconds * 1000);
      link.calm();
      return link.counts.delayedPieces - before;
    },
  },
  {
    name: 'low rate',
    seconds: 5,
    async make(link, seconds) {
      const before = link.counts.throttledBytes;
      link.set({ bytesPerSecond: 30_000 });
      await sleep(seconds * 1000);
      link.calm();
      return link.counts.throttledBytes - before;
    },
  },
  {
    name: 'reset',
    seconds: 3,
    async make(link, seconds) {
      let reset = 0;
      for (let round = 0; round < seconds; round += 1) {
        reset += link.resetAll();
        await sleep(1000);
      }
      return reset;
    },
  },
  {
    name: 'blackhole',
    seconds: 8,
    async make(link, seconds) {
      const before = link.counts.heldBytes;
      link.set({ blackhole: true });
      await sleep(seconds * 1000);
      link.calm();
      return link.counts.heldBytes - before;
    },
  },
  {
    name: 'refused connections',
    seconds: 4,
    async make(link, seconds) {
      const before = link.counts.refused;
      link.set({ refuse: true });
      link.resetAll();
      await sleep(seconds * 1000);
      link.calm();
      return link.counts.refused - before;
    },
  },
  {
    name: 'cut in mid-body',
    seconds: 5,
    async make(link, seconds) {
      let cuts = 0;
      const end = performance.now() + seconds * 1000;
      for (let round = 0; performance.now() < end; round += 1) {
        const moment: Moment = round % 2 === 0 ? 'half-answer' : 'half-request';
        const trap = link.trap({ moment, matches: ({ name }) => name !== 'ping' });
        const met = await withDeadline(trap.sprung, 1000, () => null);
        trap.remove();
        if (met !== null) cuts += 1;
        await sleep(150);
      }
      return cuts;
    },
  },
];

const UNITS: Readonly<Record<string, string>> = {
  latency: 'pieces delayed',
  'low rate': 'bytes throttled',
  reset: 'connections reset',
  blackhole: 'bytes held back',
  'refused connections': 'connections refused',
  'cut in mid-body': 'messages cut in half',
};

/** Every trouble on every way, one at a time. */
export const network: readonly Fault[] = TROUBLES.flatMap((trouble) =>
  WAYS.map((way) => ({
    name: `${trouble.name} (${way})`,
    weightS: trouble.seconds + 2,
    async run({ main, record }) {
      const link = main.links[way];
      if (link === null) return;
      const hit = await trouble.make(link, trouble.seconds);
      const name = `${trouble.name} (${way})`;
      if (hit === 0) record.missed(name, 'nothing passed meanwhile');
      else record.happened(name, `${hit} ${UNITS[trouble.name]}, counted by the proxy`);
    },
  })),
);

import { parseArgs } from 'node:util';

export const SCENARIOS = [
  'migration',
  'kills',
  'store-kills',
  'store-outage',
  'broker-outage',
  'rebalances',
  'freeze',
  'disk-full',
  'network',
  'gateway-answers',
  'swallow',
  'clock',
  'embedded',
  'control',
  'undisturbed',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface ChaosOptions {
  readonly seed: string;
  /** SIGKILLs of collector and store in all. */
  readonly kills: number;
  /** History items and Kafka records that the sources accept, at least. */
  readonly events: number;
  readonly scenarios: ReadonlySet<Scenario>;
  /** Answers of the store that are swallowed. */
  readonly swallowed: number;
  /** Groups of four changes of the group's members. */
  readonly rebalanceRounds: number;
  readonly outageS: number;
  readonly ordersPerSecond: number;
  readonly jsonFile: string | null;
  readonly isShort: boolean;
  /** Keep logs and data. */
  readonly keep: boolean;
}

export const USAGE = `npm run chaos -- [options]

  --kills N        SIGKILLs of collector and store (default 40)
  --events N       events that the sources accept: history items and Kafka records (default 300000)
  --rate N         orders a second (default 30)
  --seed S         replay a run's faults and orders (default: drawn, printed)
  --scenario NAME  only these kinds of faults; may be repeated: ${SCENARIOS.join(', ')};
                   undisturbed is left out otherwise: 10,000 orders and no fault, for the polls that an order takes
  --json FILE      write the report there, too
  --short          under 90 seconds, for CI
  --keep           keep logs and data`;

/** @throws TypeError for what is not understood */
export function readOptions(args: readonly string[]): ChaosOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string' },
      events: { type: 'string' },
      rate: { type: 'string' },
      seed: { type: 'string' },
      scenario: { type: 'string', multiple: true },
      json: { type: 'string' },
      short: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  });
  const isShort = values.short;
  const chosen = values.scenario ?? (isShort ? SHORT : SCENARIOS.filter((name) => name !== 'undisturbed'));
  for (const name of chosen) {
    if (!SCENARIOS.includes(name as Scenario))
      throw new TypeError(`--scenario ${name}: expected one of ${SCENARIOS.join(', ')}`);
  }
  return {
    seed: values.seed ?? String(Math.floor(Math.random() * 1e9)),
    kills: count('--kills', values.kills, isShort ? 4 : 40),
    events: count('--events', values.events, isShort ? 10_000 : 300_000),
    scenarios: new Set(chosen as Scenario[]),
    swallowed: isShort ? 3 : 220,
    rebalanceRounds: isShort ? 1 : 5,
    outageS: 60,
    ordersPerSecond: count('--rate', values.rate, isShort ? 40 : 30),
    jsonFile: values.json ?? null,
    isShort,
    keep: values.keep,
  };
}

const SHORT: readonly Scenario[] = ['kills', 'store-kills', 'rebalances', 'swallow', 'control'];

function count(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new TypeError(`${name}: expected a number, received ${text}`);
}

import type { AlertLine } from '../../schemas/alert-line.ts';
import type { SandboxStats } from '../stats.ts';
import type { Counts } from './counts.ts';

export interface Summary {
  readonly seconds: number;
  readonly seed: string;
  readonly dataDir: string;
  readonly orders: {
    readonly created: number;
    readonly stored: number;
    readonly settled: number;
    readonly technicalFailures: number;
  };
  readonly polls: { readonly answered: number; readonly stored: number };
  readonly callbacks: {
    readonly acknowledged: number;
    /**
     * Attempts without an answer in time, or with 5xx. Each was taken or not: deliveries may exceed what was
     * acknowledged.
     */
    readonly uncertain: number;
    readonly deliveries: number;
    readonly distinct: number;
    readonly mismatches: number;
  };
  readonly historyEvents: { readonly stored: number; readonly undecoded: number };
  readonly spans: { readonly received: number; readonly expected: number };
  readonly rows: Readonly<Record<'orders' | 'polls' | 'callbacks' | 'history_events' | 'rejects', number>>;
  readonly rejects: number;
  readonly alerts: readonly AlertLine[];
  /** Empty when what the sandbox did and what the views hold agree. */
  readonly disagreements: readonly string[];
}

export interface SummaryInput {
  readonly seconds: number;
  readonly seed: string;
  readonly dataDir: string;
  readonly sandbox: SandboxStats;
  readonly counts: Counts;
  readonly spansReceived: number;
  readonly alerts: readonly AlertLine[];
}

/** Sets side by side what the sandbox says it did and what the views say came of it. */
export function summarize(input: SummaryInput): Summary {
  const { sandbox, counts } = input;
  const answered = Object.values(sandbox.statusRequests).reduce((sum, value) => sum + value, 0);
  const expectedSpans = counts.historyEvents + counts.settledOrders;
  const { acknowledged, uncertain } = sandbox.callbacks;
  const pairs: [what: string, done: number, stored: number, uncertain: number][] = [
    ['orders created by the gateway / in the view', sandbox.orders.created, counts.orders, 0],
    ['status requests answered by the gateway / in the view', answered, counts.polls, 0],
    [
      'callbacks acknowledged to the gateway / deliveries in the view',
      acknowledged,
      counts.callbackDeliveries,
      uncertain,
    ],
    ['spans received / history items and settled orders in the views', input.spansReceived, expectedSpans, 0],
  ];
  return {
    seconds: input.seconds,
    seed: input.seed,
    dataDir: input.dataDir,
    orders: {
      created: sandbox.orders.created,
      stored: counts.orders,
      settled: counts.settledOrders,
      technicalFailures: counts.failures,
    },
    polls: { answered, stored: counts.polls },
    callbacks: {
      acknowledged,
      uncertain,
      deliveries: counts.callbackDeliveries,
      distinct: counts.callbacks,
      mismatches: counts.mismatches,
    },
    historyEvents: { stored: counts.historyEvents, undecoded: counts.undecodedCodes },
    spans: { received: input.spansReceived, expected: expectedSpans },
    rows: {
      orders: counts.orders,
      polls: counts.polls,
      callbacks: counts.callbacks,
      history_events: counts.historyEvents,
      rejects: counts.rejects,
    },
    rejects: counts.rejects,
    alerts: input.alerts.filter(({ state }) => state !== 'Normal'),
    disagreements: pairs
      .filter(([, done, stored, uncertain]) => stored < done || stored > done + uncertain)
      .map(([what, done, stored]) => `${what}: ${done} / ${stored}`),
  };
}

function uncertainText(count: number): string {
  return count === 0 ? '' : `, ${count} uncertain`;
}

/** The summary for people. */
export function summaryText(summary: Summary): string {
  const rows: [string, string, string][] = [
    [
      'orders',
      `${summary.orders.created} created`,
      `${summary.orders.stored} in orders, ${summary.orders.settled} settled`,
    ],
    ['polls', `${summary.polls.answered} answered`, `${summary.polls.stored} in polls`],
    [
      'callbacks',
      `${summary.callbacks.acknowledged} acknowledged${uncertainText(summary.callbacks.uncertain)}`,
      `${summary.callbacks.deliveries} deliveries of ${summary.callbacks.distinct} callbacks, ${summary.callbacks.mismatches} with a wrong signature`,
    ],
    [
      'history',
      '',
      `${summary.historyEvents.stored} in history_events, ${summary.historyEvents.undecoded} of them not v2 codes`,
    ],
    ['spans', `${summary.spans.received} received`, `${summary.spans.expected} expected from the rows`],
    ['rejects', '', `${summary.rejects} in rejects`],
  ];
  const table = rows
    .map(([name, done, stored]) => `  ${name.padEnd(10)} ${done.padEnd(20)} ${stored}`)
    .join('\n');
  const alerts = summary.alerts.map(({ rule, severity, state, labels, detail, summary: text }) => {
    const where = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    return `  ${rule} (${severity}, ${state.toLowerCase()}) ${where.join(' ')}\n      ${text} ${detail}`.trimEnd();
  });
  const verdict =
    summary.disagreements.length === 0
      ? 'All numbers agree: what the gateway did is what the views hold.'
      : `THE NUMBERS DISAGREE\n${summary.disagreements.map((line) => `  ${line}`).join('\n')}`;
  return [
    `\nAfter ${summary.seconds} seconds: the gateway's side, and the store's`,
    table,
    `\nAlerts, as evaluated last:${alerts.length === 0 ? ' none' : ''}`,
    ...alerts,
    `\n${verdict}\n`,
  ].join('\n');
}

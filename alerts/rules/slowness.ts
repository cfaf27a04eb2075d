import type { LabelCount, OrderCount } from '../count/order-count.ts';
import { aboveBaseline, fixedShare, Z } from './conditions.ts';
import type { Rule, Threshold } from './rule.ts';

/**
 * Seconds from submit to final that orders are counted beyond. Twice as many of them make an evaluation at
 * 2,000 orders a minute twice as dear: see docs/decisions/0045-slowness-is-a-share.md.
 */
const SECONDS = [15, 30, 60, 120, 240, 480, 960, 1_920] as const;

const nameOf = (seconds: number): string =>
  seconds < 60 || seconds % 60 !== 0 ? `${seconds} s` : `${seconds / 60} min`;

/** Orders that took longer than each of the thresholds, one label a threshold. */
const slower = (where: string, hit = ''): OrderCount => ({
  from: { kind: 'finished' },
  where,
  splitBy: 'slower_than',
  counts: SECONDS.map((seconds): LabelCount => ({
    label: nameOf(seconds),
    hit: `${hit}took_seconds > ${seconds}`,
    slowerThanSeconds: seconds,
  })),
});

const THRESHOLD: Threshold = { usuallyAtMost: 0.1, rules: ['GatewatchSlow', 'GatewatchPayersGiveUp'] };

/** Until it is known what is usual, no number of slow orders is an incident. */
const NOT_BEFORE_KNOWN = 1;

/** A request of ours that takes so long is slow. */
const SLOW_READ_SECONDS = 5;

/** Nothing fails, and everything takes longer. */
export const SLOWNESS_RULES: readonly Rule[] = [
  {
    kind: 'share',
    name: 'GatewatchSlow',
    uid: 'gatewatch-slow-orders',
    severity: 'warning',
    side: 'gateway',
    // Orders that fail for technical reasons, and payers who leave, have rules of their own.
    count: slower(`took_seconds IS NOT NULL AND outcome NOT IN ('technical_failure', 'user_abandoned')`),
    condition: aboveBaseline(0.1, NOT_BEFORE_KNOWN, 8, Z.warning),
    threshold: THRESHOLD,
    pendingSeconds: 120,
    keepFiringSeconds: 600,
    summary: 'Orders take longer than usual from submit to final.',
    affectedOrders: 'took longer than the threshold from submit to final',
    explanation:
      'Nothing fails, and payers wait. Of an order without a form the time begins with its first item.',
    steps: [
      'See whether it is one channel, one order type or everything.',
      'See which step takes long: the checks at the provider, or the callback that ends the order (runbook).',
      "Inform the gateway's operator since when, how long orders take now, and three order ids.",
    ],
    panel: 'slow-orders',
    suppressedBy: 'GatewatchPayersGiveUp',
  },
  {
    kind: 'share',
    name: 'GatewatchPayersGiveUp',
    uid: 'gatewatch-payers-give-up',
    severity: 'critical',
    side: 'gateway',
    count: slower('was_submitted', `outcome = 'user_abandoned' AND `),
    condition: aboveBaseline(0.1, NOT_BEFORE_KNOWN, 8, Z.critical),
    threshold: THRESHOLD,
    pendingSeconds: 60,
    keepFiringSeconds: 300,
    summary: 'Payers who submitted the form wait longer than usual, and give up.',
    affectedOrders: 'were abandoned by their payer, longer after the submit than the threshold',
    explanation: 'Whoever gives up may be charged all the same, and may pay twice.',
    steps: [
      'See whether it is one channel or everything, and route new orders around it.',
      'Do not take such an order for failed: read its state again (gatewatch verify ID).',
      "Inform the gateway's operator since when, and support, with three order ids.",
    ],
    panel: 'slow-orders',
  },
  {
    kind: 'share',
    name: 'GatewatchReadsSlow',
    uid: 'gatewatch-reads-slow',
    severity: 'warning',
    side: 'gateway',
    count: {
      from: { kind: 'polls' },
      splitBy: null,
      counts: [{ label: '', hit: `outcome = 'ok' AND duration_ms > ${1_000 * SLOW_READ_SECONDS}` }],
      clock: 'wall',
    },
    condition: fixedShare(0.1, 6, Z.warning),
    pendingSeconds: 120,
    keepFiringSeconds: 600,
    summary: 'The gateway answers our status requests slowly.',
    affectedOrders: `were read, and the reply took longer than ${SLOW_READ_SECONDS} seconds`,
    explanation: 'What we know grows older. Shops that read the status themselves wait as long.',
    steps: [
      'Run "gatewatch doctor": it measures one request, and names what takes long.',
      'See whether orders are slow as well (GatewatchSlow): then it is the service, not the way to it.',
      "Ask the gateway's operator, with the minute since when.",
    ],
    suppressedBy: 'GatewatchGatewayUnreachable',
  },
];

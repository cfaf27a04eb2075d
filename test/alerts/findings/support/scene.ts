import { createHash } from 'node:crypto';
import { createFindings, type Findings } from '../../../../alerts/findings/sweep.ts';
import type { FindingKind } from '../../../../schemas/findings.ts';
import type { Verdict } from '../../../../schemas/rows.ts';
import { dateTime64, type Seed, type SeededStore, type SeedItem } from '../../../support/seed-store.ts';
import { merge } from '../../scenarios.ts';

export const MINUTE = 60_000;
/** The instant of knowledge. Fixed: findings have no other clock. */
export const NOW = Date.parse('2026-03-02T12:00:00Z');
export const GATEWAY = 'acme-eu';

/** An order as its sources show it; times in seconds after it began. */
export interface OrderFacts {
  readonly id: string;
  /** Epoch milliseconds at which it began. @default an hour before NOW */
  readonly began?: number;
  readonly gateway?: string;
  /** (seconds, code) or (seconds, code, seconds of the reply that showed it first: at once). */
  readonly items?: readonly (readonly [at: number, action: string, observed?: number])[];
  readonly replies?: readonly (readonly [at: number, status: string, amount?: string, currency?: string])[];
  readonly watch?: readonly [at: number, amount: string | null, currency: string | null];
  readonly callbacks?: readonly CallbackFacts[];
  /** Status requests: when, how they ended, and how many items were missing. */
  readonly polls?: readonly (readonly [at: number, outcome: 'ok' | 'not_found', missing?: number])[];
}

export interface CallbackFacts {
  readonly at: number;
  readonly status: string;
  /** @default '10.00' */
  readonly amount?: string;
  /** @default 'EUR' */
  readonly currency?: string;
  /** What the signature does not cover. @default the same for equal callbacks */
  readonly body?: string;
  /** The way it came by, on which the content's hash depends and the body's key does not. */
  readonly way?: string;
  /** Whose seal the body has, 0 for none. @default 1, of one token */
  readonly seal?: number;
  /** @default its number */
  readonly delivery?: string;
  /** @default 'valid' */
  readonly verdict?: Verdict;
}

/** An order that was paid, as all of its sources say. */
export const paid = (id: string, change: Partial<OrderFacts> = {}): OrderFacts => ({
  id,
  items: [
    [0, '1.0.0.00'],
    [1, '1.1.1.00'],
    [2, '2.1.1.00'],
    [30, '4.1.3.00'],
    [31, '6.1.1.00'],
  ],
  replies: [
    [5, 'Processing', '10.00', 'EUR'],
    [30, 'Success', '10.00', 'EUR'],
  ],
  watch: [0, '10', 'EUR'],
  callbacks: [
    { at: 2, status: 'Processing' },
    { at: 31, status: 'Success' },
  ],
  ...change,
});

export const beganAt = ({ began = NOW - 60 * MINUTE }: OrderFacts): number => began;

export function seedOf(facts: OrderFacts): Seed {
  const { id, gateway = GATEWAY } = facts;
  const began = beganAt(facts);
  const at = (seconds: number): number => began + seconds * 1000;
  const order = { gateway, order_type: 'Deposit', external_id: id };
  const claims = [
    ...(facts.replies ?? []).map(([seconds, status, amount, currency]) => ({
      ...order,
      observed_at: dateTime64(at(seconds)),
      kind: 'status_reply',
      status,
      amount: amount ?? null,
      currency: currency ?? null,
    })),
    ...(facts.watch === undefined
      ? []
      : [
          {
            ...order,
            observed_at: dateTime64(at(facts.watch[0])),
            kind: 'watch',
            amount: facts.watch[1],
            currency: facts.watch[2],
          },
        ]),
  ];
  return {
    orders: [
      {
        gateway,
        externalId: id,
        items: (facts.items ?? []).map(([seconds, action, observed]): SeedItem => ({
          at: at(seconds),
          action,
          observedAt: at(observed ?? seconds),
        })),
      },
    ],
    rows: {
      ...(claims.length === 0 ? {} : { orderClaims: claims }),
      callbackDeliveries: (facts.callbacks ?? []).map((callback, n) => {
        const {
          status,
          amount = '10.00',
          currency = 'EUR',
          body = '',
          verdict = 'valid',
          way = '',
        } = callback;
        const content = [id, status, amount, currency, body];
        return {
          gateway,
          content_hash: md5([...content, way, verdict]),
          ...(['Success', 'Failed'].includes(status)
            ? { body_seal: callback.seal ?? 1, body_key: Number.parseInt(md5(content).slice(0, 8), 16) }
            : {}),
          delivery_id: callback.delivery ?? `${id}-${n}`,
          received_at: dateTime64(at(callback.at)),
          verdict,
          external_id: id,
          status,
          amount,
          order_type: 'Deposit',
          currency,
        };
      }),
      polls: (facts.polls ?? []).map(([seconds, outcome, missing = 0]) => ({
        gateway,
        started_at: dateTime64(at(seconds)),
        poll_id: `${id}-${seconds}`,
        endpoint: 'deposit-status',
        order_type: 'Deposit',
        order_id: id,
        id_kind: 'external-id',
        cause: 'schedule',
        outcome,
        anomaly: missing > 0 ? 'history_shrank' : '',
        missing_items: missing,
        missing_item: missing > 0 ? '2026-03-02T11:00:30.000000Z 4.1.3.00 0' : '',
      })),
    },
  };
}

/** What a collector says of itself and its settings: without, nothing is judged. */
export const watching = (gateway = GATEWAY, until = NOW, from = until - 30 * 86_400_000): Seed => ({
  gatewayStatus: [from, until].map((at) => ({ gateway, reportedAt: at, watermarkAt: at })),
  rows: {
    alertSettings: [
      { gateway, rule: '', setting: 'set', value: 1, configured_at: dateTime64(0) },
      ...['SUCCESS', 'FAILED'].map((state) => ({
        gateway,
        rule: 'GatewatchMerchantCallbackMissing',
        setting: `enabled/${state}`,
        value: 1,
        configured_at: dateTime64(0),
      })),
    ],
  },
});

export const seedAll = (facts: readonly OrderFacts[]): Seed => merge(facts.map(seedOf));

export interface FoundRow {
  readonly external_id: string;
  readonly kind: FindingKind;
  readonly subject: string;
  readonly side: string;
  readonly expected: string;
  readonly received: string;
  /** Seconds after NOW. */
  readonly found: number;
  readonly resolved: number | null;
}

export async function found(store: SeededStore, where = '1'): Promise<FoundRow[]> {
  const { data } = await store.query(
    `SELECT external_id, kind, subject, side, expected, received, toFloat64(toUnixTimestamp64Milli(found_at) - ${NOW}) / 1000 AS found, toFloat64(toUnixTimestamp64Milli(resolved_at) - ${NOW}) / 1000 AS resolved
    FROM gatewatch.findings WHERE ${where} ORDER BY external_id, kind, subject`,
  );
  return data as unknown as FoundRow[];
}

export function findingsOf(store: SeededStore): Findings {
  return createFindings({
    query: async <T>(sql: string) => (await store.queryAsWriter(sql)).data as T[],
    command: store.command,
  });
}

/** Compares until there is nothing more to compare. */
export async function sweepAll(findings: Findings, atMs = NOW): Promise<void> {
  while (await findings.sweep(atMs)) continue;
}

const md5 = (parts: readonly string[]): string => createHash('md5').update(parts.join()).digest('hex');

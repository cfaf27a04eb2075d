import { describe, expect, it } from 'vitest';
import { GatewatchError } from '../../../schemas/errors.ts';
import { createHealth, type HealthInput } from '../../../collector/telemetry/health.ts';
import type { SinkStatus } from '../../../schemas/sink.ts';
import type { PollerStatus } from '../../../schemas/polling.ts';

const sink: SinkStatus = {
  state: 'ok',
  backlogRows: 0,
  stalledMs: null,
  inFlight: 0,
  lastAckAt: null,
  retries: 0,
  ambiguous: 0,
  lastError: null,
};
type Kafka = NonNullable<HealthInput['kafka']>;
const kafka = (more: Partial<Kafka> = {}) =>
  ({
    connected: true,
    groupState: 'stable',
    lag: 7,
    stalled: false,
    fatal: null,
    lastError: null,
    missingTopics: [],
    partitions: [],
    ...more,
  }) as unknown as Kafka;

describe('health', () => {
  it('is good while a dependency is away: starting anew would not bring it back', () => {
    const health = createHealth();
    const away = { ...sink, state: 'retrying', lastError: 'connection refused' } as const;
    expect(health.alive({ kafka: kafka({ groupState: 'disconnected' as never }), sink: away })).toMatchObject(
      {
        ok: true,
        problems: {},
      },
    );
  });

  it.each<[string, Partial<Kafka>, string]>([
    ['stalls', { stalled: true }, 'no progress although there are records'],
    [
      'has ended for good',
      { fatal: new GatewatchError('not authorized', { code: 'kafka_not_authorized' }) },
      'not authorized',
    ],
  ])('is bad when the consumer %s', (_what, status, problem) => {
    const { ok, problems } = createHealth().alive({ kafka: kafka(status), sink });
    expect({ ok, problems }).toEqual({ ok: false, problems: { kafka: problem } });
  });
});

describe('readiness', () => {
  it('begins when the schema is in place and the orders are loaded', async () => {
    const health = createHealth();
    expect(health.ready({ kafka: null, sink })).toMatchObject({ ok: false });
    await expect(health.whenReady(async () => 1)).rejects.toMatchObject({ retryable: true });
    health.started();
    expect(health.ready({ kafka: null, sink })).toMatchObject({ ok: true, problems: {} });
    expect(await health.whenReady(async () => 1)).toBe(1);
  });

  it('ends while the store takes no rows or the consumer group is not stable, and says why', () => {
    const health = createHealth();
    health.started();
    const away = { ...sink, state: 'retrying', lastError: 'connection refused' } as const;
    const { ok, problems, details } = health.ready({
      kafka: kafka({ groupState: 'joining' as never, missingTopics: ['gateway.callbacks'] }),
      sink: { ...away, backlogRows: 5 },
    });
    expect({ ok, problems }).toEqual({
      ok: false,
      problems: { store: 'connection refused', kafka: 'the consumer group is joining' },
    });
    expect(details).toMatchObject({
      backlogRows: 5,
      kafka: { lag: 7, missingTopics: ['gateway.callbacks'] },
    });
  });
});

describe('readiness while something stands still', () => {
  const ready = (input: Partial<HealthInput>) => {
    const health = createHealth();
    health.started();
    return health.ready({ kafka: null, sink, ...input }).problems;
  };

  it('ends when the store does not answer queries, although it takes rows', () => {
    expect(ready({ store: 'no answer to a query for 6 s' })).toEqual({
      store: 'no answer to a query for 6 s',
    });
    expect(ready({ store: null })).toEqual({});
  });

  it('ends when rows wait and none are acknowledged', () => {
    expect(ready({ sink: { ...sink, stalledMs: 11_000, backlogRows: 3 } })).toEqual({});
    expect(ready({ sink: { ...sink, stalledMs: 13_000, backlogRows: 3 } })).toEqual({
      sink: 'no rows have been acknowledged for 13 s (3 wait)',
    });
  });

  it('ends when the same records are offered again and again', () => {
    const partition = (heldMs: number | null) => ({
      topic: 'callbacks',
      partition: 2,
      position: '17',
      heldMs,
    });
    const input = (heldMs: number | null) => ({ kafka: kafka({ partitions: [partition(heldMs)] as never }) });
    expect(ready(input(null))).toEqual({});
    expect(ready(input(11_000))).toEqual({});
    expect(ready(input(14_000))).toEqual({
      kafka: 'records at callbacks/2@17 are offered again and again for 14 s',
    });
  });

  it('ends when no order is read although some are due', () => {
    const pollers = new Map([['acme', { due: 5, watched: 5, stalledMs: 14_000 } as PollerStatus]]);
    expect(ready({ pollers })).toEqual({
      poller: '5 orders of acme are due, and none was read for 14 s',
    });
  });

  it('ends when a gateway goes on asking for pauses, or what is known of it is old', () => {
    const now = 1_000_000_000;
    const health = createHealth(() => now);
    health.started();
    const problems = (more: Partial<PollerStatus>) => {
      const status = { due: 5, stalledMs: 0, pausedMs: 0, watermarkAt: now, ...more } as PollerStatus;
      return health.ready({ kafka: null, sink, pollers: new Map([['acme', status]]) }).problems;
    };
    expect(problems({ pausedMs: 44_000, watermarkAt: now - 59_000_000 })).toEqual({});
    expect(problems({ pausedMs: 46_000 })).toEqual({
      poller: 'acme has asked for pauses (Retry-After) for 46 s; 5 orders are due',
    });
    expect(problems({ watermarkAt: now - 75_000_000 })).toEqual({
      poller: 'what is known of acme is complete only up to 75 s ago; 5 orders are due',
    });
  });

  it('ends when nobody evaluates the alert rules, which is no reason to restart', () => {
    const evaluator = { holdsLease: true, newestAsOf: 1, ageSeconds: 170, firing: {}, lastError: null };
    expect(ready({ evaluator })).toEqual({});
    const late = { ...evaluator, ageSeconds: 200 };
    expect(ready({ evaluator: late })).toEqual({
      evaluator: 'the alert rules were last evaluated 200 s ago: this collector catches up',
    });
    expect(ready({ evaluator: { ...late, holdsLease: false } })).toEqual({
      evaluator: 'the alert rules were last evaluated 200 s ago: another collector was to do it',
    });
    expect(ready({ evaluator: { ...late, lastError: 'no answer' } })).toEqual({
      evaluator: 'the alert rules were last evaluated 200 s ago: no answer',
    });
    expect(createHealth().alive({ kafka: null, sink, evaluator: late }).ok).toBe(true);
  });

  it('names the step of the start that it waits for', () => {
    const health = createHealth();
    health.starting('the watched orders are being loaded');
    expect(health.ready({ kafka: null, sink }).problems).toEqual({
      store: 'waiting for the store: the watched orders are being loaded',
    });
  });
});

describe('readiness with a broker that holds connections and answers nothing', () => {
  it('ends although the group still counts as stable, and says why', () => {
    const health = createHealth();
    health.started();
    expect(health.ready({ kafka: kafka(), sink }).ok).toBe(true);
    const frozen = health.ready({ kafka: kafka({ connected: false }), sink });
    expect(frozen).toMatchObject({ ok: false, problems: { kafka: 'no broker answers' } });
    const lastError = new GatewatchError('Kafka at b:1 does not answer in time', { code: 'kafka_timeout' });
    const named = health.ready({ kafka: kafka({ connected: false, lastError }), sink });
    expect(named.problems).toEqual({ kafka: 'Kafka at b:1 does not answer in time' });
  });
});

import type { Outcome } from '../../schemas/dictionary.ts';
import type { SamplingConfig } from '../../schemas/config-traces.ts';
import type { SettlementRow } from '../../schemas/rows.ts';
import type { SpanData } from '../../schemas/span.ts';
import { SAMPLING_RATE } from '../../schemas/span-contract.ts';
import type { Sampling } from '../../schemas/sampling.ts';
import { traceId } from './ids.ts';

/** What is known of an order when it settles for the first time, which is when its trace is decided about. */
export interface Settled {
  readonly settlement: SettlementRow;
  /** Something about it contradicts (docs: findings). */
  readonly hasFinding: boolean;
}

/** Bits of a trace id that decide: as OpenTelemetry's consistent probability sampling has it. */
const RANDOM_BITS = 56;
const KEPT: Sampling = { rate: 1, traceState: 'ot=th:0' };

/**
 * Decides once for an order, from what never changes: its first settlement and its trace id. So repetitions,
 * late items and other collectors get the same answer. Null: the trace is left out.
 */
export function createSampler(config: SamplingConfig): (order: Settled) => Sampling | null {
  const outcomes = new Set<string>(config.keepOutcomes satisfies readonly Outcome[]);
  const threshold = Math.round((1 - config.share) * 2 ** RANDOM_BITS);
  const share: Sampling = { rate: config.share, traceState: `ot=th:${thresholdText(threshold)}` };

  return ({ settlement, hasFinding }) => {
    const tookS = (settlement.last_event_at - settlement.first_event_at) / 1_000_000;
    if (
      settlement.kind === 'abandoned' ||
      outcomes.has(settlement.outcome ?? '') ||
      (config.slowerThanS !== undefined && tookS > config.slowerThanS) ||
      (config.keepFindings && hasFinding)
    )
      return KEPT;
    const { gateway, order_type, external_id } = settlement;
    const id = traceId({
      gateway,
      orderType: order_type as Parameters<typeof traceId>[0]['orderType'],
      externalId: external_id,
    });
    return isKept(id, threshold) ? share : null;
  };
}

/** The last 56 bits of the trace id are not below the threshold. */
function isKept(id: string, threshold: number): boolean {
  return BigInt(`0x${id.slice(-RANDOM_BITS / 4)}`) >= BigInt(threshold);
}

/** As `tracestate` has it: hexadecimal digits, without zeros at the end; all that is left of none is one. */
function thresholdText(threshold: number): string {
  const digits = threshold.toString(16).padStart(RANDOM_BITS / 4, '0');
  return digits.replace(/0+$/, '') || '0';
}

/** Notes on each span for how many orders it stands. */
export function markSampled(spans: readonly SpanData[], { rate, traceState }: Sampling): SpanData[] {
  const rateAttribute = { [SAMPLING_RATE.name]: rate };
  return spans.map((span) => ({ ...span, traceState, attributes: { ...span.attributes, ...rateAttribute } }));
}

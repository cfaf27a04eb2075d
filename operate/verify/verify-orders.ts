import {
  SAFETY_VERDICTS,
  type CascadeAnswer,
  type CascadeQuery,
  type CascadeResult,
  type SafetyVerdict,
} from '../../schemas/cascade-safety.ts';

export type OrderToVerify = Pick<CascadeQuery, 'id' | 'gateway' | 'type' | 'by'>;

/** Answers at once: the gateway's budget is for its collector to keep, this is for a short queue there. */
const AT_ONCE = 4;

/**
 * Verifies orders, a few at a time, in the order in which they are given.
 *
 * @param onDone called after each with how many are done
 * @returns the answers; or the refusal of the first question that was refused
 */
export async function verifyOrders(
  orders: readonly OrderToVerify[],
  verify: (order: OrderToVerify) => Promise<CascadeResult>,
  onDone: (done: number) => void = () => undefined,
): Promise<{ readonly answers: CascadeAnswer[]; readonly refusal: string | null }> {
  const answers: CascadeAnswer[] = [];
  let refusal: string | null = null;
  let done = 0;
  const todo = orders.entries();
  const work = async (): Promise<void> => {
    for (const [place, order] of todo) {
      if (refusal !== null) return;
      const result = await verify(order);
      if (result.ok) answers[place] = result.answer;
      else refusal ??= result.detail;
      done += 1;
      onDone(done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, orders.length) }, work));
  return { answers, refusal };
}

/** The verdict that matters most: one order that may be paid twice outweighs all others. */
export function worstVerdict(answers: readonly CascadeAnswer[]): SafetyVerdict {
  const has = (wanted: SafetyVerdict): boolean => answers.some(({ verdict }) => verdict === wanted);
  if (has('unsafe')) return 'unsafe';
  return has('unknown') || answers.length === 0 ? 'unknown' : 'safe';
}

/** The orders of one verdict, and what they are worth as far as that is known. */
export interface VerdictSummary {
  readonly verdict: SafetyVerdict;
  readonly orders: number;
  /** Exact decimals as text, by currency ('' where it is not known): never added over currencies. */
  readonly amounts: readonly { readonly currency: string; readonly amount: string }[];
  readonly withoutAmount: number;
}

/** Each verdict that occurs, in the order of `SAFETY_VERDICTS`. */
export function summaryOf(answers: readonly CascadeAnswer[]): VerdictSummary[] {
  return SAFETY_VERDICTS.flatMap((verdict) => {
    const own = answers.filter((answer) => answer.verdict === verdict);
    if (own.length === 0) return [];
    const sums = new Map<string, bigint>();
    let withoutAmount = 0;
    for (const { known } of own) {
      const units = unitsOf(known?.amount ?? null);
      const currency = known?.currency ?? '';
      if (units === null) withoutAmount += 1;
      else sums.set(currency, (sums.get(currency) ?? 0n) + units);
    }
    const amounts = [...sums].map(([currency, units]) => ({ currency, amount: decimalOf(units) }));
    return [{ verdict, orders: own.length, amounts, withoutAmount }];
  });
}

/** Digits behind the point that are kept: the store has no more. */
const DIGITS = 9;

function unitsOf(amount: string | null): bigint | null {
  const [, sign = '', whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(amount ?? '') ?? [];
  return whole === '' ? null : BigInt(`${sign}${whole}${part.padEnd(DIGITS, '0')}`);
}

/** With two digits behind the point at least, as amounts are written. */
function decimalOf(units: bigint): string {
  const text = (units < 0n ? -units : units).toString().padStart(DIGITS + 1, '0');
  const part = text.slice(-DIGITS).replace(/0+$/, '').padEnd(2, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, -DIGITS)}.${part}`;
}

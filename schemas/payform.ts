import { ORDER_KEY, sqlList, view } from './measures.ts';

/**
 * The payment form as a funnel over orders (interface document, section 2.4, stage 3). "Not every flow emits
 * every code", so an order reached a step when it has that step's item or one of a later step.
 */
export const FORM_STEPS = [
  { step: 'presented', codes: '3.0.1.00', item: `stage = 'PAYFORM'` },
  { step: 'visited', codes: '3.0.1.51', item: `action = '3.0.1.51'` },
  { step: 'data entered', codes: '3.0.1.53', item: `action = '3.0.1.53'` },
  { step: 'submitted', codes: '3.1.1.55', item: `action = '3.1.1.55'` },
  /** Past the payer's confirmation: someone answered for the payment itself. */
  {
    step: 'confirmed',
    codes: '4.1.x, 5.1.x',
    item: `stage IN ('CHECK', 'GATEWAY_CALLBACK') AND result = 'SUCCESS'`,
  },
] as const;
export type FormStep = (typeof FORM_STEPS)[number]['step'];
/** Number of a step, from 1. */
export const formStepNumber = (step: FormStep): number =>
  FORM_STEPS.findIndex((candidate) => candidate.step === step) + 1;

/** What payers do other than go on. */
export const FORM_EXITS = [
  { code: '3.0.1.52', label: 'left the form' },
  { code: '3.0.4.54', label: 'cancelled' },
  { code: '3.2.4.56', label: '3-D Secure failed' },
  { code: '3.2.4.57', label: 'one-time password failed' },
  { code: '3.0.1.58', label: 'left at confirmation' },
] as const;
export type FormExit = (typeof FORM_EXITS)[number]['code'];

/** Codes of a payer who submitted and did not get through the confirmation. */
export const CONFIRM_FAILURE_CODES: readonly FormExit[] = ['3.2.4.56', '3.2.4.57'];

/**
 * One row per order that was on the payment form in the window: gateway, order_type, external_id, on_form_at
 * (its first item of the form in the window), submitted_at (NULL when not), reached (number of the last
 * step), exits (codes of FORM_EXITS, each once). Any item of the form shows that it was presented, whichever
 * code the flow leaves out.
 *
 * @param where the window and further conditions on items
 */
export function formOrders(where: string): string {
  const [presented, ...later] = FORM_STEPS.map(({ item }, index) => ({ item, number: index + 1 }));
  const numbers = [...later.toReversed(), ...(presented === undefined ? [] : [presented])];
  return `SELECT ${ORDER_KEY}, minIf(event_time, on_form) AS on_form_at,
    minIf(toNullable(event_time), action = '3.1.1.55') AS submitted_at, max(step) AS reached,
    groupUniqArrayIf(toString(action), action IN (${sqlList(FORM_EXITS.map(({ code }) => code))})) AS exits
  FROM
  (
    SELECT ${ORDER_KEY}, event_time, action, ifNull(stage = 'PAYFORM', 0) AS on_form,
      multiIf(${numbers.map(({ item, number }) => `ifNull(${item}, 0), ${number}`).join(', ')}, 0) AS step
    FROM ${view('historyEvents')}
    WHERE ${where}
  )
  GROUP BY ${ORDER_KEY}
  HAVING countIf(on_form) > 0`;
}

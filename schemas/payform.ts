import type { DecodedCode } from './code.ts';

/** A code that is a step's item, in SQL and of a decoded code. */
const byAction = (code: string) => ({
  codes: code,
  item: `action = '${code}'`,
  isItem: ({ action }: DecodedCode) => action === code,
});

/**
 * The payment form as a funnel over orders (interface document, section 2.4, stage 3). "Not every flow emits
 * every code", so an order reached a step when it has that step's item or one of a later step.
 */
export const FORM_STEPS = [
  {
    step: 'presented',
    codes: '3.0.1.00',
    item: `stage = 'PAYFORM'`,
    isItem: ({ stage }: DecodedCode) => stage === 'PAYFORM',
  },
  { step: 'visited', ...byAction('3.0.1.51') },
  { step: 'data entered', ...byAction('3.0.1.53') },
  { step: 'submitted', ...byAction('3.1.1.55') },
  /** Past the payer's confirmation: someone answered for the payment itself. */
  {
    step: 'confirmed',
    codes: '4.1.x, 5.1.x',
    item: `stage IN ('CHECK', 'GATEWAY_CALLBACK') AND result = 'SUCCESS'`,
    isItem: ({ stage, result }: DecodedCode) =>
      (stage === 'CHECK' || stage === 'GATEWAY_CALLBACK') && result === 'SUCCESS',
  },
] as const;
export type FormStep = (typeof FORM_STEPS)[number]['step'];
/** The last step that an order with these codes reached. */
export const furthestStep = (codes: readonly DecodedCode[]): FormStep | null =>
  FORM_STEPS.findLast(({ isItem }) => codes.some(isItem))?.step ?? null;

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

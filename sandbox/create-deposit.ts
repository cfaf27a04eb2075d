import {
  additionalField,
  CARD_FIELD_KEYS,
  depositRequestSchema,
} from '../schemas/gateway/deposit-request.ts';
import type { DepositRequest } from '../schemas/gateway/deposit-request.ts';
import { GATEWAY_ERRORS } from '../schemas/gateway/error.ts';
import type { GatewayErrorBody, GatewayErrorCode, RequestProblem } from '../schemas/gateway/error.ts';
import type { NewOrder, OrderDesk } from './open-order.ts';
import type { MerchantEndpoint } from './options.ts';
import type { Order, OrderStore } from './orders.ts';
import { drawPayee, drawPayer, maskOf, type Payer } from './payers.ts';
import { createRandom } from './random.ts';
import { statusAt } from './reply.ts';
import type { Channel } from './scenarios.ts';
import type { Vault } from './vault.ts';

/** Which of the three addresses a create request came to (section 1). */
export type CreateBase = 'secure' | 'token' | 'payform';

export interface GatewayReply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CreateDeposit {
  (endpoint: MerchantEndpoint, base: CreateBase, body: unknown): GatewayReply;
}

/** The three create methods (sections 4.1 and 4.2): what is checked, in this order, and what is answered. */
export function createDepositCreation(parts: {
  seed: string;
  desk: OrderDesk;
  orders: OrderStore;
  vault: Vault;
  now: () => number;
  baseUrl: () => string;
}): CreateDeposit {
  return (endpoint, base, body) => {
    if (!mayUse(endpoint, base)) return errorReply('FORBIDDEN_ENDPOINT');
    const parsed = depositRequestSchema.safeParse(body);
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => ({
        field: issue.path.join('.') || '(body)',
        problem: issue.message,
      }));
      return errorReply('VALIDATION_ERROR', problems);
    }
    const request = parsed.data;
    const hasCard = CARD_FIELD_KEYS.some(
      (key) => key !== 'cardHolder' && additionalField(request, key) !== undefined,
    );
    if (hasCard && !endpoint.pci) return errorReply('FORBIDDEN_ENDPOINT');
    if (base === 'payform' || hasCard) {
      const problems = cardProblems(request);
      if (problems.length > 0) return errorReply('VALIDATION_ERROR', problems);
    }
    const storageToken = base === 'token' ? additionalField(request, 'cardStorageToken') : undefined;
    const stored = storageToken === undefined ? undefined : parts.vault.lookUp(storageToken, parts.now());
    if (base === 'token' && !stored) {
      const problem = storageToken === undefined ? 'is required' : 'is not a token of this service';
      return errorReply('VALIDATION_ERROR_TOKEN', [{ field: 'additionalFields.cardStorageToken', problem }]);
    }
    if (parts.orders.byTransactionId('Deposit', request.externalTransactionId)) {
      return errorReply('PAYMENT_ALREADY_EXISTS');
    }
    if (request.amount > endpoint.maxAmount) return errorReply('LIMIT_REACHED');

    const channel = channelOf(endpoint, base, hasCard);
    const random = createRandom(parts.seed, 'payer', parts.desk.nextSequence);
    const order = parts.desk.open({
      orderType: 'Deposit',
      channel,
      amountMinor: Math.round(request.amount * 100),
      currency: request.currency,
      externalTransactionId: request.externalTransactionId,
      callbackUrl: request.callbackUrl ?? null,
      callbackTypes: endpoint.callbackTypes,
      timeDigits: endpoint.timeDigits,
      payer: stored ?? payerOf(request, drawPayer(random)),
      ...(storageToken === undefined ? {} : { storageToken }),
    } satisfies NewOrder);
    if (!order) return errorReply('TEMPORARY_ERROR');
    return { status: 200, body: created(order, parts.baseUrl(), parts.seed, parts.now()) };
  };
}

/** An error reply in the sandbox's own shape: the interface shows none (section 7, rule 2). */
export function errorReply(code: GatewayErrorCode, problems?: readonly RequestProblem[]): GatewayReply {
  const { status, message } = GATEWAY_ERRORS[code];
  const body: GatewayErrorBody = problems ? { code, message, problems: [...problems] } : { code, message };
  return { status, body };
}

function mayUse(endpoint: MerchantEndpoint, base: CreateBase): boolean {
  if (base === 'token') return endpoint.tokenMethod;
  return base === 'payform' ? endpoint.pci : endpoint.secure !== null;
}

function channelOf(endpoint: MerchantEndpoint, base: CreateBase, hasCard: boolean): Channel {
  if (base === 'token') return 'token';
  if (base === 'payform' || hasCard) return 'card';
  return endpoint.secure === 'p2p' ? 'p2p' : 'acquiring';
}

/**
 * The reply of section 2.2. An order's payee comes from its own stream, so that it is the same on every run.
 */
function created(order: Order, baseUrl: string, seed: string, nowMs: number): object {
  const common = { externalId: order.externalId, orderStatus: statusAt(order, nowMs) };
  const formUrl = `${baseUrl}/form/${order.externalId}`;
  if (order.channel === 'p2p') {
    const payee = drawPayee(createRandom(seed, 'payee', order.sequence));
    return { ...common, paymentDetails: { ...payee, formUrl } };
  }
  if (order.channel === 'token') return { ...common, paymentDetails: { formUrl } };
  return { ...common, paymentDetails: { threeDsUrl: `${baseUrl}/3ds/${order.externalId}` } };
}

/** The merchant's payer where the request names one; only the mask of a card is kept. */
function payerOf(request: DepositRequest, drawn: Payer): Payer {
  const number = additionalField(request, 'cardNumber');
  return {
    identifier: additionalField(request, 'payeerIdentifier') ?? drawn.identifier,
    email: additionalField(request, 'email') ?? drawn.email,
    cardHolder: additionalField(request, 'cardHolder') ?? drawn.cardHolder,
    cardMask: number === undefined ? drawn.cardMask : maskOf(number),
  };
}

const CARD_GRAMMAR: Readonly<Record<(typeof CARD_FIELD_KEYS)[number], readonly [RegExp, string]>> = {
  cardNumber: [/^\d{12,19}$/, 'must be 12 to 19 digits'],
  cardHolder: [/^.{2,100}$/, 'must be 2 to 100 characters'],
  cardCvv: [/^\d{3,4}$/, 'must be 3 or 4 digits'],
  cardExpireMonth: [/^(0[1-9]|1[0-2])$/, 'must be 01 to 12'],
  cardExpireYear: [/^(\d{2}|\d{4})$/, 'must be 2 or 4 digits'],
};

function cardProblems(request: DepositRequest): RequestProblem[] {
  return CARD_FIELD_KEYS.flatMap((key) => {
    const value = additionalField(request, key);
    const [grammar, problem] = CARD_GRAMMAR[key];
    if (value !== undefined && grammar.test(value)) return [];
    return [{ field: `additionalFields.${key}`, problem: value === undefined ? 'is required' : problem }];
  });
}

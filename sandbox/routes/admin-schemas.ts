import { ORDER_TYPES } from '../../schemas/dictionary.ts';
import { CONTRADICTION_KINDS } from '../contradictions.ts';
import { FAULT_NAMES } from '../faults.ts';
import { SIGNING_NAMES } from '../signing.ts';
import { CHANNELS, INCIDENT_NAMES } from '../scenarios.ts';

/** JSON schemas of the admin API's bodies. Fastify checks them and names the field that is wrong. */

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const text = { type: 'string', minLength: 1, maxLength: 200 };
const seconds = { type: 'number', exclusiveMinimum: 0, maximum: 1e7 };
const share = { type: 'number', minimum: 0, maximum: 1 };
const ms = { type: 'number', minimum: -1e12, maximum: 1e12 };
const address = { type: 'string', pattern: '^https?://', maxLength: 2000 };
const amount = { type: 'number', exclusiveMinimum: 0, maximum: 1e12 };
const currency = { type: 'string', pattern: '^[A-Z]{3}$' };
const orderType = { enum: ORDER_TYPES };
const item = object(
  {
    action: { type: 'string', maxLength: 200 },
    time: { type: 'string', maxLength: 100 },
    offsetMs: ms,
    visibleAfterMs: ms,
  },
  ['action'],
);

export const ADMIN_SCHEMAS = {
  rate: object({ ratePerSecond: { type: 'number', minimum: 0, maximum: 10_000 } }, ['ratePerSecond']),
  fault: object(
    {
      name: { enum: FAULT_NAMES },
      probability: share,
      forSeconds: seconds,
      endpoint: { enum: ['create', 'status'] },
      orderType,
      channel: text,
      stage: { type: 'integer', minimum: 1, maximum: 6 },
      signing: { enum: SIGNING_NAMES },
      delayMs: { type: 'number', minimum: 0, maximum: 3_600_000 },
      retryAfterSeconds: { type: 'number', minimum: 0, maximum: 3600 },
      processed: { type: 'boolean' },
    },
    ['name'],
  ),
  incident: object(
    { name: { enum: INCIDENT_NAMES }, share, forSeconds: seconds, channel: { enum: CHANNELS } },
    ['name', 'share'],
  ),
  contradiction: object(
    { kind: { enum: CONTRADICTION_KINDS }, share, delayMs: { type: 'number', minimum: 0, maximum: 1e9 } },
    ['kind', 'share'],
  ),
  withdrawal: object({ amount, currency, externalTransactionId: text, callbackUrl: address }),
  order: object({
    externalId: text,
    externalTransactionId: text,
    orderType,
    channel: text,
    amount,
    currency,
    status: text,
    callbackUrl: address,
    items: { type: 'array', maxItems: 10_000, items: item },
  }),
  item,
  status: object({ status: text, amount }),
  callback: object({
    status: text,
    signature: { enum: ['valid', 'wrong', 'missing', ...SIGNING_NAMES] },
    times: { type: 'integer', minimum: 1, maximum: 100 },
    url: address,
    amount: text,
    currency: text,
    cardHolder: text,
  }),
} as const;

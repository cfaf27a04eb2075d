import { z } from 'zod';

/**
 * Errors of the gateway (section 7) with the HTTP status each one has. `message` is the interface's name of
 * the error; `code` is ours. The first nine are listed for the create methods; the rest are what the sandbox
 * answers where the interface is silent (unknown ids, rate limits, the other statuses a fault can provoke).
 */
export const GATEWAY_ERRORS = {
  VALIDATION_ERROR: { status: 400, message: 'Validation error' },
  VALIDATION_ERROR_TOKEN: { status: 400, message: 'Validation error - token' },
  PAYMENT_ALREADY_EXISTS: { status: 400, message: 'Payment already exist' },
  LIMIT_REACHED: { status: 400, message: 'Limit was reached' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
  FORBIDDEN_ENDPOINT: { status: 403, message: 'Forbidden - Endpoint' },
  FORBIDDEN_IP: { status: 403, message: 'Forbidden - IP address' },
  TEMPORARY_ERROR: { status: 423, message: 'Temporary error' },
  INTERNAL_ERROR: { status: 500, message: 'Internal Server Error' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  TOO_LARGE: { status: 413, message: 'Request body too large' },
  RATE_LIMITED: { status: 429, message: 'Too many requests' },
  REQUEST_CLOSED: { status: 499, message: 'Request closed' },
  UNAVAILABLE: { status: 503, message: 'Service unavailable' },
} as const;
export type GatewayErrorCode = keyof typeof GATEWAY_ERRORS;

/** One problem of a request. `problem` never repeats the value: it could be card data. */
export interface RequestProblem {
  readonly field: string;
  readonly problem: string;
}

/**
 * Body of an error reply. The interface does not show error bodies (section 7, rule 2): this shape is the
 * sandbox's own, and the collector reads nothing but the HTTP status.
 */
export const gatewayErrorSchema = z.object({
  code: z.enum(Object.keys(GATEWAY_ERRORS) as [GatewayErrorCode, ...GatewayErrorCode[]]),
  message: z.string(),
  problems: z.array(z.object({ field: z.string(), problem: z.string() })).optional(),
});
export type GatewayErrorBody = z.infer<typeof gatewayErrorSchema>;

import { z } from 'zod';

export const port = z.int().min(0).max(65_535);

const hostName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9_]([a-z0-9._-]*[a-z0-9])?$/i, 'the name of a host, without scheme and port')
  .transform((text) => text.toLowerCase());

const ADDRESSES = [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()];

/** An IP address, or a range of them in CIDR notation. */
export const addressRange = z
  .string()
  .refine((text) => ADDRESSES.some((schema) => schema.safeParse(text).success), {
    error: 'an IP address, or a range such as 203.0.113.0/24',
  });

/** Certificate and key as files, so that they can be renewed while the collector runs. */
const tlsSchema = z.strictObject({
  /** PEM file of the certificate and those between it and the authority. */
  cert: z.string().min(1),
  /** PEM file of the private key. */
  key: z.string().min(1),
});
export type TlsConfig = z.output<typeof tlsSchema>;

/** What one sender may take of a listener; each listener counts by itself. */
const limitsSchema = z.strictObject({
  /** Milliseconds that the head of a request may take. @default 5000 */
  headersTimeoutMs: z.int().positive().default(5_000),
  /** Milliseconds that a whole request may take, body included. @default 15000 */
  requestTimeoutMs: z.int().positive().default(15_000),
  /**
   * Milliseconds after which a connection without a request is closed: longer than load balancers keep
   * theirs, so that none sends onto a connection that is just being closed. @default 650000
   */
  idleTimeoutMs: z.int().positive().default(650_000),
  /** Heads larger than this many bytes are refused with 431. @default 16384 */
  maxHeaderBytes: z.int().min(1_024).max(1_048_576).default(16_384),
  /** Open connections at most. @default 1000 */
  maxConnections: z.int().positive().default(1_000),
  /** Open connections of one address at most. @default 200 */
  maxConnectionsPerAddress: z.int().positive().default(200),
  /** Requests of one address a second, over ten seconds; more are refused with 429. @default 1000 */
  requestsPerSecond: z.number().positive().default(1_000),
});
export type HttpLimits = z.output<typeof limitsSchema>;

export const httpConfigSchema = z.strictObject({
  /** @default '127.0.0.1' */
  host: z.string().min(1).default('127.0.0.1'),
  /** @default 8080 */
  port: port.default(8080),
  /**
   * Names that requests may be for, beside IP addresses, `localhost`, `host` and the machine's own name.
   * @default []
   */
  hosts: z.array(hostName).default([]),
  /** Serve HTTPS. @default plain HTTP */
  tls: tlsSchema.optional(),
  /** A listener of its own for callbacks, so that only it need be reachable from outside. */
  intake: z
    .strictObject({ host: z.string().min(1).default('0.0.0.0'), port, tls: tlsSchema.optional() })
    .optional(),
  /** Callback bodies larger than this are refused with 413. @default 262144 */
  maxBodyBytes: z.int().positive().max(262_144).default(262_144),
  /** Proxies whose `X-Forwarded-For` is believed, addresses with a port included. @default [] */
  trustedProxies: z.array(addressRange).default([]),
  limits: limitsSchema.prefault({}),
});
export type HttpConfig = z.output<typeof httpConfigSchema>;

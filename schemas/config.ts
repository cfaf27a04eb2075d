import { z } from 'zod';
import { readRuleName } from './rule-name.ts';
import { DEADLINE_MS } from './cascade-safety.ts';
import { alertsConfigSchema } from './config-alerts.ts';
import { addressRange, httpConfigSchema, port } from './config-http.ts';
import { tracesConfigSchema } from './config-traces.ts';
import { isTimeZone } from './local-time.ts';
import { CALLBACK_TYPES } from './gateway/callback.ts';
import { TOPICS } from './names.ts';
import { hiddenCharacter } from './hidden-character.ts';
import { Secret } from './secret.ts';

/** A secret in the file: text, usually `${NAME}` or `${file:PATH}`. Held in a type that never prints it. */
const secret = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));

/** Goes into a header with each request (section 5): with what no header can carry none would leave. */
const bearerToken = z
  .string()
  .min(1)
  .superRefine((text, { addIssue }) => {
    const hidden = hiddenCharacter(text, 'header');
    if (hidden !== null) addIssue(`a token of visible ASCII characters (${hidden})`);
    else if (text.trim() !== text) addIssue('a token without space at its ends');
  })
  .transform((text) => new Secret(text));

/** Bytes of a secret that can be guessed offline: 128 bits. */
const MIN_KEY_BYTES = 16;
const hasEnoughBytes = (text: string): boolean => new TextEncoder().encode(text).byteLength >= MIN_KEY_BYTES;

/**
 * A key of section 6.3. A callback shows the digest of known text and the key, so that a short key can be
 * found by trying; a semicolon would let parts of the signed text move into the key.
 */
const callbackKey = z
  .string()
  .refine((text) => hasEnoughBytes(text), { error: `a key of at least ${MIN_KEY_BYTES} bytes (128 bits)` })
  .refine((text) => !text.includes(';'), {
    error: 'a key without the semicolon, which parts the signed fields',
  })
  // A file of two lines is two keys, or a mistake; a byte order mark is the editor's.
  .superRefine((text, { addIssue }) => {
    const hidden = hiddenCharacter(text, 'text');
    if (hidden !== null) addIssue(`a key on one line, of characters that can be seen (${hidden})`);
  })
  .transform((text) => new Secret(text));

/** A part of the address of callbacks that only the gateway knows. */
const pathSecret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22,200}$/, '22 to 200 letters, digits, - and _ (128 bits in base64url)')
  .transform((text) => new Secret(text));

const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'an http or https address',
    abort: true,
  })
  // They would be shown wherever the address is.
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'an address without user and password; those have settings of their own',
  })
  .transform((text) => text.replace(/\/+$/, ''));

/** Gateway names are part of every identity: order ids, trace ids, rows. */
export const gatewayName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9-]+$/, 'lower-case letters, digits and hyphens');

/** How orders of one gateway are polled. Times are for unhurried production use; the demo shortens them. */
export const pollConfigSchema = z.strictObject({
  /** Delays between reads of an order that is not final, in seconds. @default [2, 5, 15, 45, 120] */
  delaysS: z.array(z.number().positive()).min(1).default([2, 5, 15, 45, 120]),
  /** Then doubling, up to this many seconds. @default 300 */
  maxDelayS: z.number().positive().default(300),
  /** Each delay varies by this share, so that orders spread out. @default 0.1 */
  jitter: z.number().min(0).max(0.5).default(0.1),
  /** Re-reads after a final status, in seconds after it was first seen. @default [60, 180, 630] */
  rereadsS: z.array(z.number().positive()).min(1).default([60, 180, 630]),
  /** An order that is still not final after this many hours is given up, with a record. @default 168 */
  giveUpAfterH: z.number().positive().default(168),
  /** Requests under way at once. @default 16 */
  concurrency: z.int().positive().max(1000).default(16),
  /** Requests a second. @default 50 */
  requestsPerSecond: z.number().positive().default(50),
  /** One deadline over connecting, headers and body, in milliseconds. @default 10000 */
  deadlineMs: z.int().positive().default(10_000),
  /** Replies larger than this many bytes are refused. @default 1048576 */
  maxReplyBytes: z.int().positive().default(1_048_576),
  /** Callbacks for one order within this many milliseconds cause one read. @default 1000 */
  mergeCallbacksMs: z.int().min(0).default(1000),
  /** Seconds between two probing requests while a circuit is open. @default 30 */
  probeS: z.number().positive().default(30),
});
export type PollConfig = z.output<typeof pollConfigSchema>;

const statusPath = z.string().regex(/^\/.*\{id\}/, 'a path that starts with / and holds {id}');

/** Status paths below the path prefix (interface document, 4.3-4.5); `{id}` stands for the order's id. */
export const pathsSchema = z.strictObject({
  depositStatus: statusPath.default('/deposit-order/{id}/status'),
  depositStatusByTransaction: statusPath.default('/deposit-order/{id}/status-by-external-transaction-id'),
  withdrawalStatus: statusPath.default('/withdrawal-order/{id}/status'),
  withdrawalStatusByTransaction: statusPath.default(
    '/withdrawal-order/{id}/status-by-external-transaction-id',
  ),
});
export type StatusPaths = z.output<typeof pathsSchema>;

export const gatewayConfigSchema = z.strictObject({
  name: gatewayName,
  /** The interface's {secure_url}, without path. */
  secureUrl: httpUrl,
  /** @default '/api/v1/integration' */
  pathPrefix: z
    .string()
    .regex(/^(\/[^\s?#]*)?$/, 'a path that starts with /, or nothing')
    .transform((text) => text.replace(/\/+$/, ''))
    .default('/api/v1/integration'),
  paths: pathsSchema.prefault({}),
  /** Bearer token for status requests (section 5). */
  token: bearerToken,
  /**
   * Private keys that callbacks are signed with (section 6.3), newest first, at least 16 bytes each. @default
   * none: no callback verifies
   */
  callbackKeys: z.array(callbackKey).max(5).default([]),
  /** Addresses that callbacks come from; others are refused with 403. @default [], any address */
  callbackAddresses: z.array(addressRange).default([]),
  /** Callbacks are taken at `/callbacks/{gateway}/{secret}` only. @default none */
  callbackPathSecret: pathSecret.optional(),
  /** Callback types that the account manager switched on (section 6.2). @default all five */
  callbackTypes: z.array(z.enum(CALLBACK_TYPES)).default([...CALLBACK_TYPES]),
  /**
   * Ids of orders that could be a card number (13 to 19 digits that begin as one and pass its check):
   * `refuse` to read such orders and keep a fingerprint instead, or `keep` them where gateway or merchant
   * number their orders so.
   * @default 'refuse'
   */
  cardLikeIds: z.enum(['refuse', 'keep']).default('refuse'),
  /**
   * Zone of the IANA database whose clock the gateway writes into `orderHistory`, with a `Z` or without,
   * although the interface says UTC (section 2.4). For gateways that cannot be mended. @default UTC
   */
  historyTimeZone: z
    .string()
    .refine(isTimeZone, { error: 'a time zone such as Asia/Shanghai, as the IANA database spells it' })
    .optional(),
  poll: pollConfigSchema.prefault({}),
});
export type GatewayConfig = z.output<typeof gatewayConfigSchema>;

const topicConfig = z.union([
  z.string().min(1),
  z.strictObject({ topic: z.string().min(1), gateway: gatewayName.optional() }),
]);

export const kafkaConfigSchema = z.strictObject({
  brokers: z.array(z.string().regex(/^\S+:\d+$/, 'host:port')).min(1),
  /** @default 'gatewatch' */
  clientId: z.string().min(1).default('gatewatch'),
  /** @default 'gatewatch' */
  groupId: z.string().min(1).default('gatewatch'),
  /**
   * Topics that carry callbacks; an entry may name the gateway that its messages are from. @default
   * gateway.callbacks
   */
  callbackTopics: z.array(topicConfig).min(1).default([TOPICS.callbacks]),
  /** Topic of "poll this order" messages. @default 'gateway.orders' */
  watchTopic: z.string().min(1).default(TOPICS.orders),
  /**
   * What our own intake puts onto the callback topic: `signed`, the signed fields and the currency, or
   * `whole`, the body byte for byte, card holder and mask included. @default 'signed'
   */
  callbackBodies: z.enum(['signed', 'whole']).default('signed'),
  /** Create missing topics. @default false */
  createTopics: z.boolean().default(false),
  /**
   * After this long without a heartbeat a dead member's partitions move on, in milliseconds. @default 10000
   */
  sessionTimeoutMs: z.int().min(6000).default(10_000),
  /** `true`, or TLS options as Node's `tls.connect` takes them. */
  ssl: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
  /** SASL options as kafkajs takes them. */
  sasl: z.looseObject({ mechanism: z.string(), password: secret.optional() }).optional(),
  /** Any further kafkajs client option. */
  clientOptions: z.record(z.string(), z.unknown()).default({}),
});
export type KafkaConfig = z.output<typeof kafkaConfigSchema>;

export const clickhouseConfigSchema = z.strictObject({
  url: httpUrl,
  /** @default 'gatewatch' */
  database: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .default('gatewatch'),
  /** @default 'default' */
  username: z.string().default('default'),
  /** @default '' */
  password: z
    .string()
    .default('')
    .transform((text) => new Secret(text)),
  /** @default 30000 */
  requestTimeoutMs: z.int().positive().default(30_000),
});

export const retentionSchema = z.strictObject({
  /** Days that history items, orders, callbacks and settlements are kept; 0 keeps for ever. @default 400 */
  historyDays: z.int().min(0).default(400),
  /** Days that status requests are kept. @default 30 */
  pollsDays: z.int().min(0).default(30),
  /** Days that rejects are kept. @default 90 */
  rejectsDays: z.int().min(0).default(90),
  /** Days that collector and gateway status reports are kept. @default 30 */
  statusDays: z.int().min(0).default(30),
});
export type RetentionConfig = z.output<typeof retentionSchema>;

export const cascadeSafetySchema = z.strictObject({
  /** An answer takes this many milliseconds at most. @default 3000 */
  deadlineMs: z.int().min(DEADLINE_MS.min).max(DEADLINE_MS.max).default(3000),
});

export const configSchema = z
  .strictObject({
    /** Names this collector in rows and metrics. @default the host's name */
    collectorId: z.string().min(1).max(63).optional(),
    gateways: z.array(gatewayConfigSchema).min(1),
    kafka: kafkaConfigSchema.optional(),
    /** Without it an embedded ClickHouse is started in `dataDir`. */
    clickhouse: clickhouseConfigSchema.optional(),
    /** Folder of the embedded store and of its secret. @default '.gatewatch' */
    dataDir: z.string().min(1).default('.gatewatch'),
    embedded: z
      .strictObject({
        /** Loopback port; 0 picks a free one. @default 8123 */
        port: port.default(8123),
        /** Wait for the disk on each insert: survives power loss, not just a kill. @default true */
        fsync: z.boolean().default(true),
        /** 'none': whoever can connect to loopback on this machine may read all rows. @default 'required' */
        readerPassword: z.enum(['required', 'none']).default('required'),
        /**
         * 'trusted_with_all_files': serve readers where the system has no sandbox (Landlock) for the
         * engine. @default 'refused'
         */
        readersWithoutSandbox: z.enum(['refused', 'trusted_with_all_files']).default('refused'),
      })
      .prefault({}),
    http: httpConfigSchema.prefault({}),
    /** Questions whether an order may be sent to another provider. */
    cascadeSafety: cascadeSafetySchema.prefault({}),
    batch: z
      .strictObject({
        /** Rows a batch at most. @default 75000 */
        maxRows: z.int().positive().default(75_000),
        /** Between the starts of two batches at least, in milliseconds. @default 250 */
        maxAgeMs: z.int().min(0).default(250),
        /** The same while few rows wait. @default 3000 */
        quietAgeMs: z.int().min(0).default(3_000),
      })
      .prefault({}),
    retention: retentionSchema.prefault({}),
    /** The export of payment spans. */
    traces: tracesConfigSchema.prefault({}),
    /** Alert rules: settings of them, and their evaluation without Grafana. */
    alerts: alertsConfigSchema.prefault({}),
    log: z
      .strictObject({
        /** @default 'info' */
        level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
      })
      .prefault({}),
  })
  .refine(
    (config) => new Set(config.gateways.map((gateway) => gateway.name)).size === config.gateways.length,
    {
      path: ['gateways'],
      message: 'gateway names that differ from one another',
    },
  )
  .superRefine(({ alerts, gateways }, context) => {
    // A misspelt name would leave the rule as it is, and nobody would know.
    const known = new Set<string>();
    const names = new Set(gateways.map(({ name }) => name));
    const refuse = (path: string[], message: string): void =>
      context.addIssue({ code: 'custom', path: ['alerts', 'rules', ...path], message });
    for (const [rule, settings] of Object.entries(alerts.rules)) {
      const name = readRuleName(rule);
      if (name === null) refuse([rule], 'the name of a rule');
      else if (known.has(name)) refuse([rule], 'each rule once');
      else known.add(name);
      for (const gateway of Object.keys(settings.gateways ?? {}))
        if (!names.has(gateway)) refuse([rule, 'gateways', gateway], 'the name of a gateway');
    }
  });
export type Config = z.output<typeof configSchema>;

interface Origin {
  readonly collectorId: string;
  /** Where the settings came from, for the log. */
  readonly origin: string;
}

export type LoadedConfig = Config & Origin;

/** The part of the configuration that a command needs. */
export type PartialConfig<K extends keyof Config> = Pick<Config, K> & Origin;

/** What commands need that read or change the store: no gateway, no Kafka. */
export const STORE_SECTIONS = ['clickhouse', 'dataDir', 'embedded', 'retention', 'http', 'log'] as const;
export type StoreConfig = PartialConfig<(typeof STORE_SECTIONS)[number]>;

/** A process's environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

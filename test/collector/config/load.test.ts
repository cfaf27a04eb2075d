import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadCalendar, loadConfig, loadPartialConfig } from '../../../collector/config/load.ts';
import { GatewatchError } from '../../../schemas/errors.ts';

let folder: string;
let files = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewatch-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(text: string, name = `settings-${(files += 1)}.yaml`): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function errorOf(load: () => unknown): GatewatchError | undefined {
  try {
    load();
    return undefined;
  } catch (error) {
    if (error instanceof GatewatchError) return error;
    throw error;
  }
}

/** The problems that loading reports, one a line. */
function problemsOf(load: () => unknown): string[] {
  const error = errorOf(load);
  expect(error).toMatchObject({ code: 'config_invalid', retryable: false });
  return (error?.message ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^ {2}- /, ''));
}

const ONE_GATEWAY = {
  GATEWATCH_GATEWAY_URL: 'https://secure.example.com',
  GATEWATCH_GATEWAY_TOKEN: 'token-of-the-environment',
};

const MINIMAL = `
gateways:
  - name: acme-eu
    secureUrl: https://secure.example.com
    token: token-of-the-file
`;

describe('the environment alone', () => {
  test('is enough for one gateway, and everything else has its documented default', () => {
    const config = loadConfig(undefined, ONE_GATEWAY);
    expect(config.gateways).toHaveLength(1);
    expect(config.gateways[0]).toMatchObject({
      name: 'gateway',
      secureUrl: 'https://secure.example.com',
      pathPrefix: '/api/v1/integration',
      paths: { depositStatus: '/deposit-order/{id}/status' },
      callbackKeys: [],
      callbackTypes: ['Create', 'Progress', 'Success', 'Failed', 'AmountChanged'],
      poll: { delaysS: [2, 5, 15, 45, 120], maxDelayS: 300, rereadsS: [60, 180, 630], concurrency: 16 },
    });
    expect(config.gateways[0]?.token.reveal()).toBe('token-of-the-environment');
    expect(config).toMatchObject({
      dataDir: '.gatewatch',
      embedded: { port: 8123, fsync: true },
      http: { host: '127.0.0.1', port: 8080, maxBodyBytes: 262_144 },
      batch: { maxRows: 75_000, maxAgeMs: 250, quietAgeMs: 3_000 },
      retention: { historyDays: 400, pollsDays: 30, rejectsDays: 90, statusDays: 30 },
      log: { level: 'info' },
      collectorId: hostname(),
      origin: 'the environment',
    });
    expect(config.kafka).toBeUndefined();
    expect(config.clickhouse).toBeUndefined();
  });

  test('sets every section that has variables', () => {
    const config = loadConfig(undefined, {
      ...ONE_GATEWAY,
      GATEWATCH_GATEWAY_NAME: 'acme-eu',
      GATEWATCH_CALLBACK_KEY: '["the newest key, 1", "the key before it"]',
      GATEWATCH_KAFKA_BROKERS: 'one:9092, two:9092,',
      GATEWATCH_CLICKHOUSE_URL: 'http://clickhouse:8123/',
      GATEWATCH_CLICKHOUSE_USER: 'writer',
      GATEWATCH_CLICKHOUSE_PASSWORD: '12345',
      GATEWATCH_CLICKHOUSE_DATABASE: 'payments',
      GATEWATCH_HTTP_HOST: '0.0.0.0',
      GATEWATCH_HTTP_PORT: '9090',
      GATEWATCH_EMBEDDED_PORT: '0',
      GATEWATCH_LOG_LEVEL: 'warn',
      GATEWATCH_DATA_DIR: '/var/lib/gatewatch',
      GATEWATCH_COLLECTOR_ID: '7',
    });
    expect(config.gateways[0]?.name).toBe('acme-eu');
    expect(config.gateways[0]?.callbackKeys.map((key) => key.reveal())).toEqual([
      'the newest key, 1',
      'the key before it',
    ]);
    expect(config.kafka).toMatchObject({
      brokers: ['one:9092', 'two:9092'],
      groupId: 'gatewatch',
      callbackTopics: ['gateway.callbacks'],
      watchTopic: 'gateway.orders',
    });
    expect(config.clickhouse).toMatchObject({
      url: 'http://clickhouse:8123',
      username: 'writer',
      database: 'payments',
    });
    expect(config.clickhouse?.password.reveal()).toBe('12345');
    expect(config).toMatchObject({
      http: { host: '0.0.0.0', port: 9090 },
      embedded: { port: 0 },
      log: { level: 'warn' },
      dataDir: '/var/lib/gatewatch',
      collectorId: '7',
    });
  });

  test('reads secrets from files named by ..._FILE, without their last line end', () => {
    const config = loadConfig(undefined, {
      GATEWATCH_GATEWAY_URL: 'https://secure.example.com',
      GATEWATCH_GATEWAY_TOKEN_FILE: write('token-in-a-file\r\n'),
      GATEWATCH_CALLBACK_KEY_FILE: write('the key in a file\nand the one before\n'),
      GATEWATCH_CLICKHOUSE_URL: 'http://clickhouse:8123',
      GATEWATCH_CLICKHOUSE_PASSWORD_FILE: write('password-in-a-file'),
    });
    expect(config.gateways[0]?.token.reveal()).toBe('token-in-a-file');
    expect(config.gateways[0]?.callbackKeys.map((key) => key.reveal())).toEqual([
      'the key in a file',
      'and the one before',
    ]);
    expect(config.clickhouse?.password.reveal()).toBe('password-in-a-file');
  });

  test('refuses a variable that is set both directly and as ..._FILE, and a file that cannot be read', () => {
    const problems = problemsOf(() =>
      loadConfig(undefined, {
        ...ONE_GATEWAY,
        GATEWATCH_GATEWAY_TOKEN_FILE: write('other'),
        GATEWATCH_CALLBACK_KEY_FILE: '/nowhere/key',
      }),
    );
    expect(problems).toEqual([
      'GATEWATCH_GATEWAY_TOKEN: set both directly and as GATEWATCH_GATEWAY_TOKEN_FILE; unset one of them',
      'GATEWATCH_CALLBACK_KEY_FILE: /nowhere/key cannot be read',
    ]);
  });

  test('counts an empty variable as not set', () => {
    const config = loadConfig(undefined, { ...ONE_GATEWAY, GATEWATCH_CONFIG: '', GATEWATCH_HTTP_PORT: '' });
    expect(config.http.port).toBe(8080);
  });

  test('names the variable whose value is wrong', () => {
    const problems = problemsOf(() =>
      loadConfig(undefined, {
        ...ONE_GATEWAY,
        GATEWATCH_GATEWAY_URL: 'ftp://secure.example.com',
        GATEWATCH_HTTP_PORT: ' ',
        GATEWATCH_EMBEDDED_PORT: '70000',
        GATEWATCH_KAFKA_BROKERS: 'broker',
      }),
    );
    expect(problems).toEqual([
      'gateways.0.secureUrl: expected an http or https address, received "ftp://secure.example.com" (from GATEWATCH_GATEWAY_URL)',
      'kafka.brokers.0: expected host:port, received "broker" (from GATEWATCH_KAFKA_BROKERS)',
      'embedded.port: expected at most 65535, received 70000 (from GATEWATCH_EMBEDDED_PORT)',
      'http.port: expected a number, received " " (from GATEWATCH_HTTP_PORT)',
    ]);
  });

  test('with nothing set says how to begin', () => {
    const problems = problemsOf(() => loadConfig(undefined, {}));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('--config');
    expect(problems[0]).toContain('GATEWATCH_GATEWAY_URL');
  });

  test('with a token alone says that the address is missing', () => {
    expect(problemsOf(() => loadConfig(undefined, { GATEWATCH_GATEWAY_TOKEN: 'hidden' }))).toEqual([
      'gateways.0.secureUrl: expected a text, received nothing; set it in the file, or GATEWATCH_GATEWAY_URL',
    ]);
  });
});

describe('a file', () => {
  test('is found by argument or GATEWATCH_CONFIG, the argument winning', () => {
    const byName = write(MINIMAL);
    const other = write(MINIMAL.replace('acme-eu', 'other'));
    expect(loadConfig(byName, {}).origin).toBe(byName);
    expect(loadConfig(undefined, { GATEWATCH_CONFIG: other }).gateways[0]?.name).toBe('other');
    expect(loadConfig(byName, { GATEWATCH_CONFIG: other }).gateways[0]?.name).toBe('acme-eu');
  });

  test('may list several gateways with their own tokens, keys, paths and schedules', () => {
    const config = loadConfig(
      write(`
gateways:
  - name: acme-eu
    secureUrl: https://eu.example.com/
    token: token-eu
    callbackKeys: ['the newest, key 2', the one before it]
  - name: acme-us
    secureUrl: https://us.example.com
    pathPrefix: /api/v2/
    paths: { withdrawalStatus: '/payout/{id}' }
    token: token-us
    callbackTypes: [Success, Failed]
    poll: { delaysS: [1, 2], requestsPerSecond: 0.5 }
kafka:
  brokers: [one:9092]
  callbackTopics:
    - callbacks.shared
    - { topic: callbacks.us, gateway: acme-us }
  ssl: true
  sasl: { mechanism: plain, username: me, password: hidden-sasl }
`),
      {},
    );
    expect(config.gateways.map((gateway) => gateway.token.reveal())).toEqual(['token-eu', 'token-us']);
    expect(config.gateways[0]?.callbackKeys.map((key) => key.reveal())).toEqual([
      'the newest, key 2',
      'the one before it',
    ]);
    expect(config.gateways[0]?.secureUrl).toBe('https://eu.example.com');
    expect(config.gateways[1]).toMatchObject({
      pathPrefix: '/api/v2',
      paths: { withdrawalStatus: '/payout/{id}', depositStatus: '/deposit-order/{id}/status' },
      callbackTypes: ['Success', 'Failed'],
      poll: { delaysS: [1, 2], requestsPerSecond: 0.5, maxDelayS: 300 },
    });
    expect(config.kafka?.callbackTopics).toEqual([
      'callbacks.shared',
      { topic: 'callbacks.us', gateway: 'acme-us' },
    ]);
    expect(config.kafka?.sasl?.password?.reveal()).toBe('hidden-sasl');
  });

  test('is overlaid by the environment, key by key', () => {
    const config = loadConfig(write(`${MINIMAL}http: { port: 1000, maxBodyBytes: 5000 }\n`), {
      GATEWATCH_HTTP_PORT: '2000',
      GATEWATCH_GATEWAY_TOKEN: 'token-of-the-environment',
    });
    expect(config.http).toMatchObject({ port: 2000, maxBodyBytes: 5000 });
    expect(config.gateways[0]?.name).toBe('acme-eu');
    expect(config.gateways[0]?.token.reveal()).toBe('token-of-the-environment');
  });

  test('with several gateways refuses the variables for one', () => {
    const two = write(`${MINIMAL}  - { name: other, secureUrl: 'https://b.example.com', token: t }\n`);
    const problems = problemsOf(() => loadConfig(two, { GATEWATCH_GATEWAY_TOKEN: 'hidden' }));
    expect(problems).toEqual([
      'GATEWATCH_GATEWAY_TOKEN: the file lists several gateways, so it is unclear which one is meant; set this in the file',
    ]);
  });

  test('may leave a section empty', () => {
    const config = loadConfig(write(`${MINIMAL}http:\n  # port: 9000\nclickhouse:\n`), {});
    expect(config.http.port).toBe(8080);
    expect(config.clickhouse).toBeUndefined();
  });

  test.each([
    ['that is missing', () => join(folder, 'missing.yaml'), /missing\.yaml: cannot be read \(ENOENT\)/],
    ['that is a folder', () => folder, /cannot be read \(EISDIR\)/],
    ['that is not YAML', () => write('a: [1\nb: "x'), /:\d+: not valid YAML/],
    [
      'that says a key twice',
      () => write(`${MINIMAL}log: {}\nlog: {}\n`),
      /:\d+: not valid YAML \(DUPLICATE_KEY\)/,
    ],
    ['with an alias to nowhere', () => write('gateways: *nowhere'), /not valid YAML/],
    ['that is a list', () => write('- a\n- b'), /expected a mapping of settings, received an array of 2/],
    ['that is a text', () => write('just a token'), /expected a mapping of settings, received a text$/],
  ])('%s is an error which names it', (_title, file, message) => {
    const problems = problemsOf(() => loadConfig(file(), {}));
    expect(problems.every((problem) => message.test(problem))).toBe(true);
  });
});

describe('callback keys', () => {
  const keysOf = (text: string) =>
    loadConfig(undefined, { ...ONE_GATEWAY, GATEWATCH_CALLBACK_KEY: text }).gateways[0]?.callbackKeys.map(
      (key) => key.reveal(),
    );

  test('stay what they are in a JSON list, whatever they hold', () => {
    const key = fc
      .string({ unit: 'binary', minLength: 16 })
      // Those are refused.
      .filter((text) => !/[;\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text));
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), (keys) => {
        expect(keysOf(JSON.stringify(keys))).toEqual(keys);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    ['one', 'a key of 128 bits', ['a key of 128 bits']],
    [
      'one on a line',
      'a key of 128 bits\r\n\nthe key before it\n',
      ['a key of 128 bits', 'the key before it'],
    ],
    ['a JSON list', '["a, key with commas"]', ['a, key with commas']],
  ])('are read as %s', (_form, text, keys) => {
    expect(keysOf(text)).toEqual(keys);
  });

  test.each([
    ['a comma outside of JSON', 's3cret-of-128-bits,s3cret-before-that', 'JSON list'],
    ['half a JSON list', '["s3cret-of-128-bits"', 'JSON list'],
    ['a JSON list of something else', '[{"s3cret-of-128-bits":1}]', 'JSON list'],
    ['fewer than 128 bits', 's3cret-15-bytes', 'at least 16 bytes (128 bits)'],
    ['a semicolon', 's3cret-of-128-bits;and more', 'without the semicolon'],
    ['two lines in one key', '["s3cret-of-128-bits\\ns3cret-of-128-bits"]', 'on one line'],
  ])('with %s refuse to start, and say why without showing them', (_what, text, why) => {
    const problems = problemsOf(() => keysOf(text)).join('\n');
    expect(problems).toContain(why);
    expect(problems).toContain('GATEWATCH_CALLBACK_KEY');
    expect(problems).not.toContain('s3cret');
  });

  test('are counted in bytes, not in characters', () => {
    expect(keysOf('ключ-ключ')).toEqual(['ключ-ключ']);
  });
});

describe('references', () => {
  test('fill in ${NAME} and ${file:PATH}, in part or in whole', () => {
    const secretFile = write('a key from a file\n');
    const config = loadConfig(
      write(`
gateways:
  - name: acme-eu
    secureUrl: https://\${HOST}.example.com
    token: \${TOKEN}
    callbackKeys: ['\${file:${secretFile}}']
`),
      { HOST: 'eu', TOKEN: '0123456789' },
    );
    expect(config.gateways[0]?.secureUrl).toBe('https://eu.example.com');
    expect(config.gateways[0]?.token.reveal()).toBe('0123456789');
    expect(config.gateways[0]?.callbackKeys[0]?.reveal()).toBe('a key from a file');
  });

  test('give numbers and truth values where the setting is one, and texts where it is a text', () => {
    const config = loadConfig(
      write(`${MINIMAL}
collectorId: \${ID}
http: { port: '\${PORT}' }
embedded: { fsync: '\${FSYNC}' }
kafka: { brokers: ['one:9092'], ssl: '\${TLS}' }
`),
      { ID: '12', PORT: '8181', FSYNC: 'false', TLS: 'true' },
    );
    expect(config).toMatchObject({ collectorId: '12', http: { port: 8181 }, embedded: { fsync: false } });
    expect(config.kafka?.ssl).toBe(true);
  });

  test('to what is missing are problems with the key, and none is reported twice', () => {
    const problems = problemsOf(() =>
      loadConfig(
        write(`
gateways:
  - name: acme-eu
    secureUrl: https://\${NO_HOST}
    token: \${NO_TOKEN}
    callbackKeys: ['\${file:/nowhere/key}']
`),
        {},
      ),
    );
    expect(problems).toEqual([
      'gateways.0.secureUrl: the variable NO_HOST is not set',
      'gateways.0.token: the variable NO_TOKEN is not set',
      'gateways.0.callbackKeys.0: /nowhere/key cannot be read',
    ]);
  });

  test('to an empty variable give an empty value, which is said', () => {
    const file = write(MINIMAL.replace('token-of-the-file', '${TOKEN}'));
    expect(problemsOf(() => loadConfig(file, { TOKEN: '' }))).toEqual([
      'gateways.0.token: expected at least 1 characters, received an empty string (from ${TOKEN})',
    ]);
  });

  test('are filled in once: a secret that looks like a reference stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const secret = `\${OTHER}${text}$&`;
        const config = loadConfig(write(MINIMAL.replace('token-of-the-file', '${TOKEN}'), 'once.yaml'), {
          TOKEN: secret,
          OTHER: 'wrong',
        });
        expect(config.gateways[0]?.token.reveal()).toBe(secret);
      }),
      { numRuns: 30 },
    );
  });
});

describe('problems', () => {
  test('are all listed at once, with key, expected and received', () => {
    const problems = problemsOf(() =>
      loadConfig(
        write(`
gatewayz: []
gateways:
  - name: Acme EU
    secureUrl: secure.example.com
    token: \${NO_TOKEN}
    callbackTypes: [Success, Refund]
    poll: { delaysS: [], jitter: 0.9, retries: 3 }
    paths: { depositStatus: /status }
kafka: { brokers: [], ssl: 5, callbackTopics: [{ gateway: acme }] }
http: { port: eighty, intake: { host: '' } }
batch: { maxRows: 1.5 }
dataDir: [a]
retention: 30
`),
        { GATEWATCH_LOG_LEVEL: 'loud' },
      ),
    );
    expect(problems.toSorted()).toMatchInlineSnapshot(`
      [
        "batch.maxRows: expected a whole number, received 1.5",
        "dataDir: expected a text, received an array of 1",
        "gateways.0.callbackTypes.1: expected "Create" or "Progress" or "Success" or "Failed" or "AmountChanged", received "Refund"",
        "gateways.0.name: expected lower-case letters, digits and hyphens, received "Acme EU"",
        "gateways.0.paths.depositStatus: expected a path that starts with / and holds {id}, received "/status"",
        "gateways.0.poll.delaysS: expected at least 1 items, received an array of 0",
        "gateways.0.poll.jitter: expected at most 0.5, received 0.9",
        "gateways.0.poll.retries: no such setting",
        "gateways.0.secureUrl: expected an http or https address, received "secure.example.com"",
        "gateways.0.token: the variable NO_TOKEN is not set",
        "gatewayz: no such setting",
        "http.intake.host: expected at least 1 characters, received an empty string",
        "http.intake.port: expected a number, received nothing",
        "http.port: expected a number, received "eighty"",
        "kafka.brokers: expected at least 1 items, received an array of 0",
        "kafka.callbackTopics.0.topic: expected a text, received nothing",
        "kafka.ssl: expected true or false, or a mapping, received [secret]",
        "log.level: expected "trace" or "debug" or "info" or "warn" or "error" or "silent", received "loud" (from GATEWATCH_LOG_LEVEL)",
        "retention: expected a mapping, received 30",
      ]
    `);
  });

  test('name a limit that the value itself must not have', () => {
    const poll = 'poll: { delaysS: [0], concurrency: 0 }';
    const file = write(`${MINIMAL}  - { name: b, secureUrl: 'https://b.example.com', token: t, ${poll} }\n`);
    expect(problemsOf(() => loadConfig(file, {})).toSorted()).toEqual([
      'gateways.1.poll.concurrency: expected more than 0, received 0',
      'gateways.1.poll.delaysS.0: expected more than 0, received 0',
    ]);
  });

  test('include gateways that share a name', () => {
    const file = write(`${MINIMAL}  - { name: acme-eu, secureUrl: 'https://b.example.com', token: t }\n`);
    expect(problemsOf(() => loadConfig(file, {}))).toEqual([
      'gateways: expected gateway names that differ from one another, received an array of 2',
    ]);
  });
});

describe('secrets', () => {
  const SECRETS = [
    's3cret-token',
    's3cret-key',
    's3cret-sasl',
    's3cret-password',
    's3cret-url',
    's3cret-tls',
  ];

  test('never show in a loaded configuration, however it is printed', () => {
    const config = loadConfig(
      write(`
gateways:
  - { name: a, secureUrl: 'https://a.example.com', token: s3cret-token, callbackKeys: [s3cret-key-of-128-bits] }
kafka: { brokers: ['one:9092'], sasl: { mechanism: plain, username: me, password: s3cret-sasl } }
clickhouse: { url: 'http://clickhouse:8123', password: s3cret-password }
`),
      {},
    );
    const printed = [
      JSON.stringify(config),
      inspect(config, { depth: 10 }),
      `${String(config.gateways[0]?.token)}`,
    ];
    for (const text of printed) for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  test('never show in an error, whatever is wrong with them or around them', () => {
    const problems = problemsOf(() =>
      loadConfig(
        write(`
gateways:
  - { name: a, secureUrl: 'https//me:s3cret-url@a.example.com', token: [s3cret-token], callbackKeys: s3cret-key }
kafka:
  brokers: ['me:s3cret-url@one']
  sasl: s3cret-sasl
  ssl: s3cret-tls
clickhouse: { url: 'clickhouse://me:s3cret-url@host', password: [s3cret-password] }
`),
        {},
      ),
    );
    expect(problems.length).toBeGreaterThanOrEqual(8);
    for (const secret of SECRETS) expect(problems.join('\n')).not.toContain(secret);
  });

  test('never show in an error about broken YAML', () => {
    const problems = problemsOf(() => loadConfig(write('gateways:\n  - token: "s3cret-token\n  x: ]'), {}));
    expect(problems.join('\n')).not.toContain('s3cret');
  });
});

test('a loaded configuration cannot be changed, at any depth', () => {
  const config = loadConfig(undefined, { ...ONE_GATEWAY, GATEWATCH_CALLBACK_KEY: 'a key of 128 bits' });
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every((inner) => frozen(inner)));
  expect(frozen(config)).toBe(true);
  expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
});

test('any file of settings either loads or is refused with a list of problems', () => {
  const key = fc.constantFrom('gateways', 'kafka', 'clickhouse', 'http', 'log', 'batch', 'dataDir', 'other');
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })), (settings) => {
      const file = write(JSON.stringify(settings), 'any.yaml');
      const message = errorOf(() => loadConfig(file, ONE_GATEWAY))?.message;
      expect(message ?? 'The configuration has a problem:\n  - none').toMatch(
        /^The configuration has (a problem|\d+ problems):\n {2}- ./,
      );
    }),
    { numRuns: 200 },
  );
});

describe('a part of the configuration', () => {
  const SECTIONS = ['clickhouse', 'dataDir', 'embedded'] as const;

  test('needs no gateway and reads no secret that it has no use for', () => {
    const file = write(`
gateways:
  - { name: NOT VALID, token: '\${NO_TOKEN}' }
clickhouse: { url: 'http://clickhouse:8123', password: '\${PASSWORD}' }
`);
    const config = loadPartialConfig(
      file,
      { PASSWORD: 'p', GATEWATCH_GATEWAY_TOKEN_FILE: '/nowhere' },
      SECTIONS,
    );
    expect(config.clickhouse?.password.reveal()).toBe('p');
    expect(Object.keys(config).toSorted()).toEqual([
      'clickhouse',
      'collectorId',
      'dataDir',
      'embedded',
      'origin',
    ]);
    expect(Object.isFrozen(config.clickhouse)).toBe(true);
  });

  test('works with nothing configured at all', () => {
    const config = loadPartialConfig(undefined, {}, SECTIONS);
    expect(config).toMatchObject({ dataDir: '.gatewatch', embedded: { port: 8123 } });
  });

  test('still reports what is wrong with it, and keys that no section has', () => {
    const file = write('clikhouse: {}\nembedded: { port: x }\n');
    expect(problemsOf(() => loadPartialConfig(file, {}, SECTIONS)).toSorted()).toEqual([
      'clikhouse: no such setting',
      'embedded.port: expected a number, received "x"',
    ]);
  });
});

describe('an address with user and password in it', () => {
  test('is refused without repeating them, as addresses appear in logs', () => {
    const env = { ...ONE_GATEWAY, GATEWATCH_CLICKHOUSE_URL: 'http://writer:hunter2@clickhouse:8123' };
    const [problem, ...more] = problemsOf(() => loadConfig(undefined, env));
    expect(problem).toMatch(/^clickhouse\.url: expected an address without user and password/);
    expect(problem).not.toContain('hunter2');
    expect(more).toEqual([]);
  });
});

describe('settings of alert rules', () => {
  const withRules = (alerts: string): string => write(`${MINIMAL}\nalerts:\n${alerts}`);

  test('must name rules and gateways that there are, since a misspelt one would have no effect', () => {
    const file = withRules(`
  rules:
    GatewatchTechTimeout: { enabled: false }
    TrafficDrop: { below: 0.4 }
    trafficdrop: { below: 0.3 }
    GatewatchTechTimeouts: { gateways: { acme-us: { enabled: false }, acme-eu: { shareAbove: 0.1 } } }`);
    expect(problemsOf(() => loadConfig(file, {}))).toEqual([
      'alerts.rules.GatewatchTechTimeout: expected the name of a rule, received an object',
      'alerts.rules.trafficdrop: expected each rule once, received an object',
      'alerts.rules.GatewatchTechTimeouts.gateways.acme-us: expected the name of a gateway, received an object',
    ]);
  });
});

describe("the reader's zone and holidays", () => {
  const GATEWAY = "gateways: [{name: acme, secureUrl: 'https://acme.test', token: t}]";
  const calendar = (timeZone: string, ...holidays: string[]) =>
    write(`${GATEWAY}\nalerts: ${JSON.stringify({ timeZone, holidays })}`);

  test('are UTC and none, unless file or environment say more', () => {
    expect(loadConfig(write(GATEWAY), {}).alerts).toMatchObject({ timeZone: 'UTC', holidays: [] });
    expect(loadConfig(calendar('Europe/Berlin', '2026-12-25'), {}).alerts).toMatchObject({
      timeZone: 'Europe/Berlin',
      holidays: ['2026-12-25'],
    });
    const env = { GATEWATCH_TIME_ZONE: 'Asia/Kolkata', GATEWATCH_HOLIDAYS: '2026-12-25, 2027-01-01' };
    expect(loadConfig(calendar('Europe/Berlin', '2026-05-01'), env).alerts).toMatchObject({
      timeZone: 'Asia/Kolkata',
      holidays: ['2026-12-25', '2027-01-01'],
    });
  });

  test.each(['UTC', 'Etc/UTC', 'EST5EDT', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince'])(
    'take %s',
    (zone) => expect(loadConfig(calendar(zone), {}).alerts.timeZone).toBe(zone),
  );

  // Go, which reads the name in Grafana and Alertmanager, wants it as the database spells it.
  test.each(['Berlin', 'europe/berlin', 'Europe/berlin', 'Local', 'CET+1', '+01:00', '', '../etc/passwd'])(
    'refuse the zone %j',
    (zone) => {
      const received = zone === '' ? 'an empty string' : JSON.stringify(zone);
      expect(problemsOf(() => loadConfig(calendar(zone), {}))).toEqual([
        `alerts.timeZone: expected a name of the IANA time zone database, as it is spelt there, such as Europe/Berlin, received ${received}`,
      ]);
    },
  );

  test.each(['2026-02-29', '25.12.2026', '2026-12-25T00:00:00Z', '2026-1-1', 'Christmas'])(
    'refuse the date %s',
    (date) => {
      expect(problemsOf(() => loadConfig(calendar('UTC', '2026-05-01', date), {}))).toEqual([
        `alerts.holidays.1: expected a date such as 2026-12-25, received ${JSON.stringify(date)}`,
      ]);
    },
  );

  test('refuse a date that stands twice, and more dates than anyone needs', () => {
    const twice = calendar('UTC', '2026-05-01', '2026-12-25', '2026-05-01');
    expect(problemsOf(() => loadConfig(twice, {}))).toEqual([
      'alerts.holidays.2: expected a date that is not listed before, received "2026-05-01"',
    ]);
    const days = Array.from({ length: 151 }, (_, n) => new Date(n * 86_400_000).toISOString().slice(0, 10));
    const [problem = ''] = problemsOf(() => loadConfig(calendar('UTC', ...days), {}));
    expect(problem).toMatch(/^alerts\.holidays: expected at most 150 items, received /);
  });

  test('are read alone, whatever else stands beside them', () => {
    const file = write(
      'alerts: {timeZone: "${ZONE}", holidays: [2026-12-25], webhook: {url: "https://hook.test", token: "${TOKEN}"}}',
    );
    expect(loadCalendar(file, { ZONE: 'Europe/Berlin' })).toEqual({
      timeZone: 'Europe/Berlin',
      holidays: ['2026-12-25'],
    });
    expect(problemsOf(() => loadCalendar(file, { ZONE: 'Berlin' }))).toEqual([
      expect.stringMatching(/^alerts\.timeZone: expected a name .* received "Berlin" \(from \$\{ZONE\}\)$/),
    ]);
    expect(loadCalendar(undefined, {})).toEqual({ timeZone: 'UTC', holidays: [] });
  });
});

describe('a secret with characters that nobody sees', () => {
  const BOM = '\ufeff';
  test.each([
    ['a byte order mark', `${BOM}pub-token-0123456789`, 'character 1 is U+FEFF, a byte order mark'],
    ['a zero-width space', 'pub-\u200btoken', 'character 5 is U+200B, a zero-width space'],
    ['a line end inside', 'pub\ntoken', 'character 4 is U+000A, a line end'],
    ['a no-break space', 'pub\u00a0token', 'character 4 is U+00A0, a no-break space'],
    ['a letter that no header carries', 'pub-tökën', 'character 6 is none of those'],
  ])('as a token from a file with %s is refused with file and place', (_what, text, place) => {
    const path = write(`${text}\n`, `token-${(files += 1)}.txt`);
    const env = {
      GATEWATCH_GATEWAY_URL: ONE_GATEWAY.GATEWATCH_GATEWAY_URL,
      GATEWATCH_GATEWAY_TOKEN_FILE: path,
    };
    expect(problemsOf(() => loadConfig(undefined, env))).toEqual([
      `gateways.0.token: expected a token of visible ASCII characters (${place}), received [secret] (from GATEWATCH_GATEWAY_TOKEN_FILE, ${path})`,
    ]);
    const file = write(MINIMAL.replace('token-of-the-file', `\${file:${path}}`));
    const [problem] = problemsOf(() => loadConfig(file, {}));
    expect(problem).toContain(place);
    expect(problem).toContain(path);
  });

  test('as a key is refused as well', () => {
    const file = write(`${MINIMAL}    callbackKeys: ["${BOM}s3cret-of-128-bits"]\n`);
    expect(problemsOf(() => loadConfig(file, {}))).toEqual([
      expect.stringContaining('(character 1 is U+FEFF, a byte order mark), received [secret]'),
    ]);
  });
});

test('a missing setting names the variable that it can come from', () => {
  const { GATEWATCH_GATEWAY_URL } = ONE_GATEWAY;
  expect(problemsOf(() => loadConfig(undefined, { GATEWATCH_GATEWAY_URL }))).toEqual([
    'gateways.0.token: expected a text, received nothing; set it in the file, or GATEWATCH_GATEWAY_TOKEN',
  ]);
  const two = write(
    MINIMAL +
      MINIMAL.replace('gateways:', '')
        .replace('acme-eu', 'b')
        .replace(/ *token: .*\n/, ''),
  );
  expect(problemsOf(() => loadConfig(two, {}))).toEqual([
    'gateways.1.token: expected a text, received nothing',
  ]);
});

/**
 * What each setting means, by its path in the file; `[]` is an item of a list. Types and defaults come from
 * the schema.
 */
export const SETTING_DOCS: Readonly<Record<string, string>> = {
  collectorId:
    'Name of this collector in rows and metrics. Give every collector its own. Without it: the name of the host.',
  gateways: 'The gateways, at least one. Names must differ.',
  'gateways[].name':
    'Lower-case letters, digits, hyphens, at most 63. Part of every identity: renaming begins new orders.',
  'gateways[].secureUrl': "The interface's `{secure_url}`: scheme and host, without the path of section 4.",
  'gateways[].pathPrefix': 'What stands between the address and the status paths.',
  'gateways[].paths':
    'Status paths below the prefix; `{id}` stands for the id. For gateways that deviate from sections 4.3 to 4.5.',
  'gateways[].paths.depositStatus': "Deposit by the service's id (4.3).",
  'gateways[].paths.depositStatusByTransaction': "Deposit by the merchant's id (4.4).",
  'gateways[].paths.withdrawalStatus': "Payout by the service's id (4.5).",
  'gateways[].paths.withdrawalStatusByTransaction': "Payout by the merchant's id (4.5).",
  'gateways[].token': 'Bearer token for status requests. Write it as `${NAME}` or `${file:PATH}`.',
  'gateways[].callbackKeys':
    'Private keys of callback signatures, newest first, at most 5, each of at least 16 bytes (128 bits) and without `;`. With two keys a change of key can overlap. Without any no callback verifies.',
  'gateways[].callbackAddresses':
    'Addresses that callbacks of this gateway come from: IP addresses or ranges such as `203.0.113.0/24`. Others are refused with 403. Those listed are not bound by `requestsPerSecond` and the numbers of connections in `http.limits`. Without any: every address.',
  'gateways[].callbackPathSecret':
    'Callbacks of this gateway are taken at `/callbacks/{gateway}/{secret}` only, and answered 404 elsewhere. 22 to 200 letters, digits, `-` and `_`. Write it as `${NAME}` or `${file:PATH}`; it is in no log, metric or row of ours, but may be in those of a proxy.',
  'gateways[].cardLikeIds':
    'Ids of orders that could be a card number, 13 to 19 digits that begin as one and pass its check: `refuse` to read such orders and store a fingerprint, or `keep` them where gateway or merchant number their orders so.',
  'gateways[].callbackTypes':
    'Callback types that are switched on for you: `Create`, `Progress`, `Success`, `Failed`, `AmountChanged`. Nobody is alarmed by the absence of others.',
  'gateways[].historyTimeZone':
    'Zone of the IANA database, such as `Asia/Shanghai`, whose clock the gateway writes into `orderHistory`, with a `Z` or without, although the interface says UTC. For gateways that cannot be mended; times that name an offset are taken as they are. Without: UTC.',
  'gateways[].poll': 'How orders of this gateway are polled.',
  'gateways[].poll.delaysS': 'Waits between reads of an order that is not final, in seconds.',
  'gateways[].poll.maxDelayS': 'After these the wait doubles, up to this many seconds.',
  'gateways[].poll.jitter': 'Each wait varies by this share, 0 to 0.5, so that orders spread out.',
  'gateways[].poll.rereadsS':
    'Re-reads after a final status, in seconds after it was first seen. They go on until one brings nothing new. An order whose history ended a day before its first read is read once.',
  'gateways[].poll.giveUpAfterH':
    'An order that is not final after this many hours is abandoned, with a record.',
  'gateways[].poll.concurrency': 'Status requests under way at once, at most 1000.',
  'gateways[].poll.requestsPerSecond': 'Status requests a second.',
  'gateways[].poll.deadlineMs': 'One deadline over connecting, headers and body, in milliseconds.',
  'gateways[].poll.maxReplyBytes': 'Replies larger than this many bytes are refused.',
  'gateways[].poll.mergeCallbacksMs': 'Callbacks for one order within this many milliseconds cause one read.',
  'gateways[].poll.probeS': 'Seconds between two probing requests while a circuit is open.',
  kafka: 'Kafka. Without it callbacks come by HTTP alone.',
  'kafka.brokers': 'Brokers, each `host:port`.',
  'kafka.clientId': 'Name towards the brokers.',
  'kafka.groupId': 'Consumer group. Collectors that share the work share the group.',
  'kafka.callbackTopics':
    'Topics that carry callbacks: a name, or `{topic, gateway}` when all messages of the topic are from one gateway.',
  'kafka.callbackTopics[].topic': 'Name of the topic.',
  'kafka.callbackTopics[].gateway': 'Gateway of messages without a `gateway` header.',
  'kafka.watchTopic': 'Topic of "poll this order" messages.',
  'kafka.callbackBodies':
    'What the own intake puts onto the callback topic: `signed`, the signed fields and the currency, or `whole`, the body byte for byte, card holder and mask included.',
  'kafka.createTopics': 'Create topics that are missing.',
  'kafka.sessionTimeoutMs': 'A dead member keeps its partitions for this many milliseconds, 6000 at least.',
  'kafka.ssl': "`true`, or options as Node's `tls.connect` takes them.",
  'kafka.sasl': 'SASL options as kafkajs takes them: `mechanism`, `username`, `password` and so on.',
  'kafka.sasl.mechanism': '`plain`, `scram-sha-256`, `scram-sha-512` or another that kafkajs knows.',
  'kafka.sasl.password': 'Write it as `${NAME}` or `${file:PATH}`.',
  'kafka.clientOptions': 'Any further option of the kafkajs client.',
  clickhouse: 'A ClickHouse server or cluster. Without it an embedded ClickHouse runs in `dataDir`.',
  'clickhouse.url': 'Address of its HTTP interface.',
  'clickhouse.database': 'Database; created when missing.',
  'clickhouse.username': 'User that may create tables and insert.',
  'clickhouse.password': 'Write it as `${NAME}` or `${file:PATH}`.',
  'clickhouse.requestTimeoutMs': 'Time-out of one request, in milliseconds.',
  dataDir: 'Folder of the embedded store and of its secret. One process at a time can use it.',
  embedded: 'The embedded ClickHouse.',
  'embedded.port': 'Loopback port of its HTTP interface; 0 picks a free one.',
  'embedded.readerPassword':
    '`none`: whoever can connect to loopback on this machine may read all rows. `required`: with the password in `reader.secret`.',
  'embedded.readersWithoutSandbox':
    '`refused`: readers, the console, Grafana and `gatewatch sql` among them, are answered only where the system keeps the engine away from the files of this account: Linux 5.13 or later with Landlock, and the optional package `koffi`. `trusted_with_all_files`: they are served anyway, on macOS for instance; whoever gets past the check of their statements reads every file that this account can read. The collector writes in either case.',
  'embedded.fsync': 'Wait for the disk at each insert: survives power loss, not just a kill.',
  http: "The collector's own HTTP interface.",
  'http.host': 'Address to listen on. There is no authentication: keep it on loopback or behind a proxy.',
  'http.port': 'Port; 0 picks a free one.',
  'http.hosts':
    'Names that requests may be for, as their `Host` header says, on every listener: those by which gateways, proxies and people reach it. IP addresses, `localhost`, `http.host` and the name of the machine always may. Others are answered 421: a web page could have made its own name point here. A proxy has to pass the `Host` header on.',
  'http.tls':
    'Serve HTTPS. SIGHUP reads the files again. Commands such as `gatewatch watch` then reach the collector only where the certificate is trusted for `http.host`: rather give callbacks a listener of their own with TLS, and leave this one on loopback.',
  'http.tls.cert': 'PEM file of the certificate and those between it and the authority.',
  'http.tls.key': 'PEM file of the private key.',
  'http.trustedProxies':
    'Addresses of proxies, IP addresses or ranges, whose `X-Forwarded-For` names the sender. Without them the sender is the address that connects: behind a proxy all senders then share the limits of one.',
  'http.limits': 'What one sender may take of a listener. Each listener counts by itself.',
  'http.limits.headersTimeoutMs': 'Milliseconds that the head of a request may take; 408 after that.',
  'http.limits.requestTimeoutMs':
    'Milliseconds that a whole request may take, body included; 408 after that.',
  'http.limits.idleTimeoutMs':
    'Milliseconds after which a connection without a request is closed: longer than load balancers keep theirs.',
  'http.limits.maxHeaderBytes': 'Heads larger than this many bytes are refused with 431.',
  'http.limits.maxConnections':
    'Open connections at most. One more takes the place of the one that has done nothing for longest, of the address that has most.',
  'http.limits.maxConnectionsPerAddress':
    'Open connections of one address (IPv6: of one /64) at most; in the same way.',
  'http.limits.requestsPerSecond':
    'Requests of one address (IPv6: of one /64) a second, over ten seconds; more are refused with 429 and `Retry-After`.',
  'http.intake': 'A listener of its own for callbacks, so that only it need be reachable from outside.',
  'http.intake.host': 'Address of that listener.',
  'http.intake.port': 'Port of that listener.',
  'http.intake.tls': 'Serve HTTPS there, as `http.tls` does here.',
  'http.intake.tls.cert': 'PEM file of the certificate and those between it and the authority.',
  'http.intake.tls.key': 'PEM file of the private key.',
  'http.maxBodyBytes': 'Larger callback bodies are refused with 413; at most 262144.',
  cascadeSafety: 'Answers to the question whether an order may be sent to another provider.',
  'cascadeSafety.deadlineMs':
    'An answer takes this many milliseconds at most, 50 to 30000; `deadline_ms` of a request shortens it.',
  batch: 'How rows are batched. Larger batches cost less, smaller ones show sooner.',
  'batch.maxRows': 'Rows of a batch, at most.',
  'batch.maxAgeMs':
    'Milliseconds between the starts of two batches at least, while rows come faster than that.',
  'batch.quietAgeMs':
    'The same while fewer than 4,000 rows wait: each batch has a fixed price, so a quiet system writes fewer. What a sender waits for over HTTP goes after a sixth of it, and alone; after a pause the next two batches go as fast as `batch.maxAgeMs` lets them. 0: always `batch.maxAgeMs`.',
  traces: 'Which payment spans are exported. The receiver is set by `OTEL_EXPORTER_OTLP_*`.',
  'traces.sampling':
    'With a share below 1, a trace is exported once its order has settled: whole, or not at all. Everything stays in the store.',
  'traces.sampling.share':
    'Share of the orders that nothing below keeps, 0 to 1, by trace id: every collector and every repetition decides alike.',
  'traces.sampling.keepOutcomes':
    'Orders with these outcomes are kept, and those that were given up. Without it: all but `succeeded`.',
  'traces.sampling.slowerThanS':
    'Orders that took more seconds than this from their first history item to their last are kept.',
  'traces.sampling.keepFindings':
    'Orders with a finding from ten minutes or more before they settled are kept.',
  retention: 'How long rows are kept, in days; 0 keeps them for ever.',
  'retention.historyDays': 'History items, orders, callbacks and settlements.',
  'retention.pollsDays': 'Status requests.',
  'retention.rejectsDays': 'Rejects.',
  'retention.statusDays': 'Reports of collectors about themselves and about gateways.',
  alerts: 'Alert rules: their settings, and their evaluation without Grafana.',
  'alerts.evaluate':
    'Notify the targets below of what fires. The rules are evaluated in any case, by one collector at a time; one that notifies goes first. `gatewatch run --evaluate-alerts` does the same.',
  'alerts.runbookUrl':
    'Folder of runbooks that pages link to, such as one in your own repository: each is `RULE.md` there. Without it they link to the dashboard of runbooks below `externalUrl`.',
  'alerts.alertmanager': 'An Alertmanager (API v2) that is notified of alerts.',
  'alerts.alertmanager.url': 'Its address, without `/api`.',
  'alerts.alertmanager.username': 'User, where it asks for one.',
  'alerts.alertmanager.password': 'Write it as `${NAME}` or `${file:PATH}`.',
  'alerts.alertmanager.token': 'Bearer token, instead of user and password.',
  'alerts.webhook':
    "An address that is notified of alerts, as JSON of the shape that Grafana's webhooks have.",
  'alerts.webhook.url': 'The address.',
  'alerts.webhook.token': 'Bearer token.',
  'alerts.webhook.repeatMinutes': 'Minutes after which an alert that still fires is sent again.',
  'alerts.webhook.heartbeatUrl':
    "Address of a dead man's switch outside of your installation: it gets a POST after each evaluation of the rules, and raises the alarm when they stop coming. It does not get `url` and `token`.",
  'alerts.externalUrl': 'Base address of Grafana, put before the links of pages.',
  'alerts.timeZone':
    'Zone of those who read pages, by its name in the IANA database, such as `Europe/Berlin`. Pages, `gatewatch alerts`, `gatewatch explain` and the console show times in it beside UTC. The days and hours that baselines compare, `holidays` and office hours are those of its clocks.',
  'alerts.holidays':
    'Days without the usual traffic, as dates in `timeZone`: `2026-12-25`, at most 150. What is usual on such a day is what is usual on Sundays, and no other day is compared with it. Outside office hours all day.',
  'alerts.rules':
    'Settings of rules by name of the rule, and below `gateways` by name of the gateway: `enabled`; of shares `shareAbove` (0 to 1) and `minimumAffectedOrders`; of drops `below` (part of what is expected) and `minimumExpectedOrders`; of slow orders `slowerThanSeconds` (set of `GatewatchSlow`, it holds for both rules about them); of numbers `above`. They hold wherever the rules are evaluated, Grafana too.',
  log: 'Logs. They are JSON lines on standard error.',
  'log.level': '`trace`, `debug`, `info`, `warn`, `error` or `silent`.',
};

/**
 * The GATEWATCH_* variables with the setting each one lays over the file. Test: exactly those that the
 * collector reads.
 */
export const VARIABLE_DOCS: Readonly<Record<string, { readonly setting: string; readonly text: string }>> = {
  GATEWATCH_CONFIG: { setting: '', text: 'Path of the configuration file; `--config` wins.' },
  GATEWATCH_GATEWAY_NAME: { setting: 'gateways[].name', text: 'Without it `gateway`.' },
  GATEWATCH_GATEWAY_URL: { setting: 'gateways[].secureUrl', text: '' },
  GATEWATCH_GATEWAY_TOKEN: { setting: 'gateways[].token', text: '' },
  GATEWATCH_CALLBACK_KEY: {
    setting: 'gateways[].callbackKeys',
    text: 'Several keys, newest first: as a JSON list of texts, or one on a line. A key with a comma: as a JSON list.',
  },
  GATEWATCH_KAFKA_BROKERS: { setting: 'kafka.brokers', text: 'Joined by commas.' },
  GATEWATCH_CLICKHOUSE_URL: { setting: 'clickhouse.url', text: '' },
  GATEWATCH_CLICKHOUSE_USER: { setting: 'clickhouse.username', text: '' },
  GATEWATCH_CLICKHOUSE_PASSWORD: { setting: 'clickhouse.password', text: '' },
  GATEWATCH_CLICKHOUSE_DATABASE: { setting: 'clickhouse.database', text: '' },
  GATEWATCH_HTTP_HOST: { setting: 'http.host', text: '' },
  GATEWATCH_HTTP_PORT: { setting: 'http.port', text: '' },
  GATEWATCH_HTTP_HOSTS: { setting: 'http.hosts', text: 'Joined by commas.' },
  GATEWATCH_EMBEDDED_PORT: { setting: 'embedded.port', text: '' },
  GATEWATCH_DATA_DIR: { setting: 'dataDir', text: '' },
  GATEWATCH_COLLECTOR_ID: { setting: 'collectorId', text: '' },
  GATEWATCH_TIME_ZONE: {
    setting: 'alerts.timeZone',
    text: 'Also read by `npm run generate`, for the files of Grafana.',
  },
  GATEWATCH_HOLIDAYS: { setting: 'alerts.holidays', text: 'Joined by commas. Read there, too.' },
  GATEWATCH_LOG_LEVEL: { setting: 'log.level', text: '' },
};

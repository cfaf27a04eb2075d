import { TARGETS } from '../../../attacks/reader/attack.ts';
import { STATEMENTS } from '../../../attacks/reader/statements.ts';

/** Statements of people and programs, chosen so that each line of the judge has one that it lets pass. */
const allowed = [
  'SELECT count() FROM gatewatch.orders',
  'SELECT id FROM gatewatch.orders FINAL PREWHERE id > 1 ORDER BY id LIMIT 1',
  'WITH x AS (SELECT id FROM gatewatch.orders) SELECT sum(id) FROM x WHERE id IN (SELECT id FROM gatewatch.orders)',
  'WITH x AS MATERIALIZED (SELECT 1 AS a) SELECT a FROM x',
  'WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x WHERE a < 3) SELECT a FROM x',
  'SELECT count() FROM gatewatch.orders WHERE id IN gatewatch.plain',
  'SELECT count() FROM gatewatch.orders WHERE id NOT IN numbers(3)',
  'SELECT count() FROM gatewatch.orders WHERE id GLOBAL IN view(SELECT 1)',
  'SELECT o.id FROM gatewatch.orders AS o LEFT JOIN gatewatch.plain AS p USING (id) ORDER BY ALL LIMIT 1',
  'SELECT * FROM (SELECT 1 AS a) AS x JOIN (SELECT 1 AS a) AS y ON (x.a = y.a) AND (x.a > 0 OR y.a > 0)',
  '(SELECT 1) UNION ALL (SELECT 1)',
  '(SELECT 1) UNION DISTINCT (SELECT 2)',
  '(SELECT 1) INTERSECT (SELECT 1)',
  'SELECT 1 SETTINGS max_threads = 1, join_use_nulls = 1 FORMAT TSV',
  'SELECT 1 FORMAT TSV SETTINGS max_threads = 1',
  'SELECT 1 SETTINGS priority = -1 FORMAT `Null`',
  "SELECT 1 SETTINGS session_timezone = 'Europe/Berlin' FORMAT CSV SETTINGS extremes = 0;",
  "SELECT count() FROM gatewatch.orders SETTINGS additional_table_filters = {'gatewatch.orders' : ' id = \\'1\\' ', 'b': 'c'}",
  'SELECT 1 SETTINGS max_threads = DEFAULT',
  'FROM gatewatch.plain SELECT id',
  'SELECT sum(number) FROM numbers(10) GROUP BY number WITH ROLLUP HAVING (sum(number) > 1) FORMAT Null',
  'SELECT number, 1 AS a FROM numbers(3) GROUP BY GROUPING SETS ((number), (a))',
  'SELECT number FROM numbers(3) GROUP BY ROLLUP(number)',
  'SELECT number FROM numbers(3) GROUP BY CUBE(number)',
  "SELECT a FROM values('a UInt8', 1, 2) ORDER BY a DESC NULLS LAST COLLATE 'en'",
  'SELECT * FROM view(SELECT 1)',
  "SELECT * FROM gatewatch.incident_orders(kind = 'x')",
  'SELECT arrayMap(x -> x + 1, [1, 2]), uniqExactIf(1, 1), quantileTDigest(0.5)(2), toStartOfMinute(toDateTime(0))',
  'SELECT arrayMap((x, y) -> (x, y), [1], [2]), (1, 2).1, [1, 2][1], map(1, 2), -1, .5, 1e-7, 0x1F',
  'SELECT sumMap([1], [2]), argMaxMerge(s) FROM (SELECT argMaxState(1, 2) AS s)',
  'SELECT * EXCEPT (note) REPLACE (id + 1 AS id) FROM gatewatch.orders ORDER BY id LIMIT 1',
  "SELECT COLUMNS('a|b') EXCEPT (a), COLUMNS(a, b), t.COLUMNS('x'), t.COLUMNS(a), t.* FROM gatewatch.orders AS t",
  'SELECT id AS `errors/min`, note FROM gatewatch.orders ORDER BY `errors/min` LIMIT 1',
  'SELECT row_number() OVER (PARTITION BY note ORDER BY id) FROM gatewatch.orders LIMIT 1',
  'SELECT sum(id) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), max(id) OVER w FROM gatewatch.orders WINDOW w AS (ORDER BY id)',
  'SELECT id FROM gatewatch.orders ORDER BY id WITH FILL FROM (0) TO (5) STEP (1) INTERPOLATE (note AS note)',
  'SELECT id FROM gatewatch.orders LIMIT (1) OFFSET (2)',
  'SELECT id FROM gatewatch.orders LIMIT 1 BY (id)',
  'SELECT DISTINCT ON (id) note FROM gatewatch.orders SAMPLE 1 / 10 OFFSET 1 / 2',
  'SELECT count() FILTER (WHERE id > 1) FROM gatewatch.orders QUALIFY (row_number() OVER ()) = 1',
  'SELECT a FROM gatewatch.orders LEFT ARRAY JOIN [1, 2] AS a',
  "SELECT if(1, 2, 3), 1 ? 2 : 3, CASE WHEN (1) THEN (2) ELSE (3) END, CAST(1 AS Enum8('a' = 1)), 1::UInt8",
  "SELECT CAST((1, 'a'), 'Tuple(a UInt8, b String)'), CAST([1] AS Array(Nullable(String))), x::Tuple(a UInt8)",
  "SELECT note LIKE '%a%', note ILIKE 'b', NOT (id IS NULL), (id) BETWEEN (1) AND (2), 'a' || 'b', exists(SELECT 1)",
  'SELECT 1 = ANY(SELECT 1), 2 > ALL(SELECT 1), INTERVAL 1 DAY, EXTRACT(YEAR FROM now()), a % b, a / b * c',
  'SELECT 1 -- comment; with a semicolon',
  "SELECT 'it''s', 'a\\\\b', 'tab\\tline\\n', `a\\`b`, $$raw$$ FROM (SELECT 1 AS `a\\`b`)",
  'SELECT t.file FROM (SELECT 1 AS file) AS t',
  'SELECT 1 AS file',
  "SELECT version() != '', currentDatabase(), timezone(), displayName() != '', revision() > 0",
  "SELECT name FROM system.tables WHERE database = 'gatewatch' AND name = 'orders'",
  'SELECT count() > 0 FROM information_schema.tables',
  'SELECT * FROM system.numbers LIMIT 1',
  'SELECT * FROM заказы',
  'SELECT {n:UInt8} + 1, {s:String}, {a:Array(Nullable(DateTime64))} LIMIT {limit:UInt64}',
  "SELECT {d:DateTime('UTC')}, {e:Enum8('a' = 1)}, {m:Map(String, Decimal(9, 2))}, {l:LowCardinality(FixedString(3))}",
  'SHOW DATABASES',
  "SHOW TABLES FROM gatewatch LIKE 'ord%'",
  "SHOW FULL TABLES FROM gatewatch NOT ILIKE 'ord%' LIMIT 3",
  'SHOW CREATE TABLE gatewatch.orders',
  'SHOW CREATE VIEW gatewatch.orders',
  'SHOW CREATE DATABASE gatewatch',
  'SHOW EXTENDED FULL COLUMNS FROM gatewatch.orders',
  'SHOW INDEXES FROM gatewatch.orders',
  'DESC TABLE "gatewatch"."orders"',
  'EXISTS TABLE gatewatch.orders',
  'EXISTS VIEW gatewatch.orders',
  'EXISTS DATABASE gatewatch',
  'EXPLAIN SELECT * FROM gatewatch.orders',
  'EXPLAIN indexes = 1, json = 1, description = 0 SELECT * FROM gatewatch.plain',
  'EXPLAIN AST SELECT 1',
  'EXPLAIN SYNTAX WITH 1 AS a SELECT a',
  'EXPLAIN QUERY TREE SELECT 1',
  'EXPLAIN PIPELINE SELECT 1',
  'EXPLAIN ESTIMATE SELECT 1',
  'EXPLAIN PLAN actions = 1 SELECT 1',
];

/** Near what is allowed: each is refused for one thing only. */
const refused = [
  '(SELECT 1) EXCEPT (SELECT 2)',
  'SELECT {t:Identifier}',
  'SELECT * FROM {t:Identifier}',
  'SELECT {f:AggregateFunction(sum, UInt8)}',
  'SELECT {a:Array(JSON)}',
  'SELECT arrayMap({f:Identifier}, [1])',
  'SELECT 1 SETTINGS max_threads = 1, max_threads = toString(1)',
  'SELECT * FROM (SELECT 1 SETTINGS max_threads = 1)',
  'SELECT file FROM gatewatch.orders',
  'SELECT `file` FROM gatewatch.orders',
  'SELECT executable(1)',
  'SELECT numbers(1)',
  'SELECT number IN file FROM numbers(1)',
  'SELECT * FROM processes',
  'SELECT id FROM gatewatch.orders WHERE id IN processes',
  'SELECT id FROM gatewatch.orders WHERE id IN system.processes',
  'DESCRIBE TABLE processes',
  'EXISTS TABLE processes',
  'SHOW CREATE TABLE processes',
  'SELECT orders_store.id FROM gatewatch.orders',
  'DESCRIBE TABLE (SELECT 1)',
  'EXISTS DICTIONARY x',
  'EXISTS TEMPORARY TABLE x',
  'EXPLAIN AST SHOW TABLES',
  'EXPLAIN EXPLAIN SELECT 1',
  "EXPLAIN header = 'a' SELECT 1",
  'EXPLAIN CURRENT TRANSACTION',
  "SHOW TABLES LIKE 'a\\'b'",
  'SHOW CLUSTER x',
  `SHOW TABLES FROM ${'a'.repeat(129)}`,
  'DESCRIBE TABLE `a b`',
];

/** What looks like something else and shows a reader nothing: the judge leaves it to the engine. */
const harmless = [
  'SELECT x.processes FROM gatewatch.orders AS x',
  'SELECT id FROM gatewatch.orders WHERE system.processes IN (1)',
  'SHOW COLUMNS FROM processes',
  'SELECT `file\u0301`(1)',
  'SHOW TEMPORARY TABLES',
];

const TARGET_PATHS = { secret: '/etc/passwd', writer: '/store/writer.secret', out: '/tmp/out' } as const;

function aim(sql: string): string {
  const names = Object.keys(TARGETS) as (keyof typeof TARGETS)[];
  return names.reduce((text, name) => text.replaceAll(TARGETS[name], TARGET_PATHS[name]), sql);
}

/** By group; `database` is the one of the request, in which a name without one is looked up. */
export const TO_JUDGE: readonly { group: string; database: string | null; statements: readonly string[] }[] =
  [
    { group: 'allowed', database: 'gatewatch', statements: allowed },
    { group: 'harmless', database: 'system', statements: harmless },
    { group: 'refused', database: 'system', statements: refused },
    // Of filters the judge sees each condition by itself.
    ...[
      ...Map.groupBy(
        STATEMENTS.filter(({ group }) => group !== 'filters'),
        ({ group }) => group,
      ),
    ].map(([group, attacks]) => ({
      group: `attacks: ${group}`,
      database: null,
      statements: attacks.map(({ body }) => aim(Buffer.from(body ?? []).toString('utf8'))),
    })),
  ];

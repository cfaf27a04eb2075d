import { statement, type Attack } from './attack.ts';

/** Numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

const QUOTES = ["'", '"', '`', '‘', '’', '“', '”', '$$', "\\'", '\u02bc', '＇'];
const BLANKS = [
  ' ',
  '\t',
  '\n',
  '\r',
  '\f',
  '\v',
  '\u00a0',
  '\u2003',
  '\u200b',
  '\ufeff',
  '/**/',
  '--\n',
  '/* ; */',
  '\0',
];
const WORDS = [
  'file', 'url', 'INTO OUTFILE', "'{OUT}'", "'{SECRET}'", "('{WRITER}')", 'FORMAT Protobuf', 'SETTINGS', '=', 'readonly', '0',
  'output_format_schema', 'FROM', 'WHERE', 'SELECT', 'WITH', 'AS', 'APPLY', 'UNION ALL', ';', ',', '(', ')', '[', ']', '{', '}',
  'IN', 'ARRAY JOIN', 'INSERT INTO', 'DROP TABLE gatewatch.plain', 'gatewatch.orders_store', 'system.processes', '->', 'x',
  '{t:Identifier}', 'EXPLAIN', 'SHOW', 'DESCRIBE', 'LIMIT', 'OVER', 'FILTER', 'INTERPOLATE', 'formatRow', 'arrayMap', 'dictGet',
  "'groupConcat((SELECT any(key) FROM gatewatch.fingerprint_keys_store))'", "'a String ALIAS file(a)'", 'arrayReduce',
  'initializeAggregation', 'values', 'CAST', "'AggregateFunction(groupConcat(file(1)), String)'", '{a:String}', 'ALIAS',
  'gatewatch.fingerprint_keys_store', 'system.errors', 'executable', 'remote', '*', '`', '--', '/*', '*/', '\\', '\u0000', '::', '.', '?', ':', '||', 'CASE WHEN', 'END', 'NULL',
]; // prettier-ignore

/** Wraps that keep the meaning, or ought to. */
const WRAPS: readonly ((sql: string) => string)[] = [
  (sql) => `(${sql})`,
  (sql) => `SELECT * FROM (${sql})`,
  (sql) => `SELECT (${sql})`,
  (sql) => `WITH x AS (${sql}) SELECT * FROM x`,
  (sql) => `SELECT 1 WHERE 1 IN (${sql})`,
  (sql) => `SELECT arrayMap(x -> (${sql}), [1])`,
  (sql) => `EXPLAIN ${sql}`,
  (sql) => `EXPLAIN QUERY TREE ${sql}`,
  (sql) => `DESCRIBE (${sql})`,
  (sql) => `SELECT * FROM view(${sql})`,
  (sql) => `${sql} UNION ALL ${sql}`,
  (sql) => `(${sql}) EXCEPT (${sql})`,
  (sql) => `/* ${sql} */ ${sql}`,
  (sql) => `${sql} -- ${sql}`,
  (sql) => `SELECT exists(${sql})`,
  (sql) => `SELECT 1 SETTINGS max_threads = (${sql})`,
  (sql) => `SELECT arrayReduce(${quoted(`groupConcat((${sql}))`)}, ['a', 'b'])`,
  (sql) => `SELECT initializeAggregation(${quoted(`groupConcat((${sql}))`)}, 'a')`,
  (sql) => `SELECT CAST('', ${quoted(`AggregateFunction(groupConcat((${sql})), String)`)})`,
  (sql) => `SELECT JSONExtract('{}', ${quoted(`Array(AggregateFunction(groupConcat((${sql})), String))`)})`,
  (sql) => `SELECT * FROM values(${quoted(`a String, b String ALIAS (${sql})`)}, ('x'))`,
  (sql) => `SELECT id FROM gatewatch.orders SETTINGS additional_table_filters = {'orders': ${quoted(sql)}}`,
];

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Statements that a reader may run: what mutates from them is nearest to passing. */
const HARMLESS = [
  'SELECT count() FROM gatewatch.orders WHERE id > 1 GROUP BY note ORDER BY note LIMIT 3 FORMAT JSON',
  "SELECT toStartOfMinute(now()) AS time, uniqExactIf(id, note != 'a') FROM gatewatch.orders GROUP BY time",
  "SHOW TABLES FROM gatewatch LIKE 'ord%'",
  'DESCRIBE TABLE gatewatch.orders',
  'SELECT {a:String}, arrayMap(x -> x + 1, [1, 2]) FROM gatewatch.plain SETTINGS max_threads = 1',
  'WITH x AS (SELECT id FROM gatewatch.orders) SELECT * FROM x JOIN gatewatch.plain USING (id)',
];

/** Endless attacks, made of the hand-made ones. */
export function* mutations(seeds: readonly Attack[], random: Random): Generator<Attack, never> {
  const texts = [
    ...HARMLESS,
    ...seeds.filter(isText).map(({ body }) =>
      Buffer.from(body ?? [])
        .toString('utf8')
        .slice(0, 2_000),
    ),
  ];
  for (;;) {
    let sql = pick(texts, random);
    for (let times = 1 + Math.floor(random() * 4); times > 0; times--) sql = mutated(sql, texts, random);
    const search: Record<string, string> = { param_a: 'x' };
    // What stands in the place of a parameter is SQL to some functions.
    if (random() < 0.1) search['param_a'] = `groupConcat((${pick(texts, random)}))`;
    const settings = pick(seeds, random).search;
    if (random() < 0.15) Object.assign(search, settings);
    yield {
      ...statement('mutation', sql, search),
      name: `${sql.slice(0, 300)} with ${JSON.stringify(search)}`,
    };
  }
}

function mutated(sql: string, texts: readonly string[], random: Random): string {
  const at = Math.floor(random() * (sql.length + 1));
  const [before, behind] = [sql.slice(0, at), sql.slice(at)];
  switch (Math.floor(random() * 9)) {
    case 0:
      return `${before}${pick(WORDS, random)}${behind}`;
    case 1:
      return `${before}${pick(BLANKS, random)}${behind}`;
    case 2:
      return `${before}${pick(QUOTES, random)}${behind}`;
    case 3:
      return sql.replaceAll("'", pick(QUOTES, random));
    case 4:
      return before + behind.slice(1 + Math.floor(random() * 6));
    case 5: {
      const other = pick(texts, random);
      return before + other.slice(Math.floor(random() * other.length));
    }
    case 6:
      return [...sql]
        .map((letter) => (random() < 0.5 ? letter.toUpperCase() : letter.toLowerCase()))
        .join('');
    case 7:
      return sql.replaceAll(' ', pick(BLANKS, random));
    default:
      return pick(WRAPS, random)(sql);
  }
}

const isText = ({ headers, method, body }: Attack): boolean =>
  method === 'POST' && Object.keys(headers).length === 0 && (body?.byteLength ?? 0) < 4_000;

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}

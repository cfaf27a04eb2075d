import type { EpochMicros } from '../../schemas/rows.ts';
import { sqlText } from '../../schemas/measures.ts';
import { FINDINGS } from '../count/tables.ts';
import { type JudgedTypes, judgements, COLUMNS_OF_KINDS } from './kinds.ts';
import { orderFacts } from './order-facts.ts';
import { instant, type SweepScope, touchedOrders } from './sweep-scope.ts';

const NEVER = `toDateTime64(0, 6, 'UTC')`;
const EVIDENCE = `Array(Tuple(source String, at DateTime64(6, 'UTC'), what String))`;

/** Columns of a stored finding, in order. */
const COLUMNS =
  'gateway, order_type, external_id, kind, subject, found_at, side, expected, received, evidence, resolved_at, judged_at';

/** SQL of the evidence: source, instant and text each; those that never happened are left out. */
export const evidenceSql = (
  evidence: readonly (readonly [source: string, at: string, what: string])[],
): string =>
  `CAST(arrayFilter(e -> e.2 > ${NEVER}, [${evidence.map(([source, at, what]) => `(${sqlText(source)}, ${at}, ${what})`).join(', ')}]), '${EVIDENCE.replaceAll("'", "\\'")}')`;

/**
 * The statement that stores findings of one gateway.
 *
 * @param select SELECT of order_type, external_id, kind, subject, found_at, side, expected, received,
 *   evidence, resolved_at (1970: not resolved)
 * @param judgedAt which of two judgements is the newer one
 */
export const storeFindings = (gateway: string, judgedAt: EpochMicros, select: string): string =>
  `INSERT INTO ${FINDINGS} (${COLUMNS})
SELECT ${sqlText(gateway)}, order_type, external_id, kind, subject, found_at, side, expected, received, evidence, if(resolved_at > ${NEVER}, resolved_at, NULL), ${instant(judgedAt)}
FROM
(
  ${select}
) AS found`;

/** SELECT of what follows from the facts of the scope's orders. */
export function factFindings(scope: SweepScope, types: JudgedTypes): string {
  const all = judgements(types);
  const found = all.map(
    ({ kind, subject, foundAt, side, expected, received, evidence, resolvedAt }, index) =>
      `(holds_${index}, ${sqlText(kind)}, ${subject}, ${foundAt}, ${side}, ${expected}, ${received}, ${evidenceSql(evidence)}, ${resolvedAt})`,
  );
  const holds = all.map(({ when }, index) => [`holds_${index}`, `toUInt8(${when})`] as const);
  return `SELECT order_type, external_id, f.2 AS kind, f.3 AS subject, f.4 AS found_at, f.5 AS side, f.6 AS expected, f.7 AS received, f.8 AS evidence, f.9 AS resolved_at
  FROM
  (
    SELECT *, ${instant(scope.now)} AS judged_at,
      ${columnsSql([...COLUMNS_OF_KINDS, ...holds])}
    FROM
    (
      ${orderFacts(scope)}
    )
    WHERE ${holds.map(([name]) => name).join(' OR ')}
  )
  ARRAY JOIN [${found.join(',\n    ')}] AS f
  WHERE f.1`;
}

const columnsSql = (columns: readonly (readonly [name: string, sql: string])[]): string =>
  columns.map(([name, sql]) => `${sql} AS ${name}`).join(',\n      ');

/**
 * SELECT of the findings of these kinds about the scope's orders that an earlier judgement had and that of
 * now has no more: they are resolved.
 */
export const vanishedFindings = (scope: SweepScope, types: JudgedTypes): string =>
  `SELECT order_type, external_id, kind, subject, found_at, side, expected, received, evidence, ${instant(scope.now)} AS resolved_at
  FROM
  (
    SELECT * EXCEPT (resolved_at)
    FROM ${FINDINGS} FINAL
    WHERE gateway = ${sqlText(scope.gateway)} AND resolved_at IS NULL AND judged_at < ${instant(scope.now)}
      AND kind IN (${[...new Set(judgements(types).map(({ kind }) => sqlText(kind)))].join(', ')})
      AND (order_type, external_id) IN (${touchedOrders(scope)})
  )`;

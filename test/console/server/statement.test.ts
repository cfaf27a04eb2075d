import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DashboardFile } from '../../../console/server/dashboard-files.ts';
import { chosenValues, statementOf } from '../../../console/server/statement.ts';

const range = { from: new Date(1_700_000_000_000), to: new Date(1_700_003_600_000), intervalMs: 60_000 };
const SQL =
  'SELECT 1 WHERE $__timeFilter(t) AND $__conditionalAll(gateway IN (${gateway:singlequote}), $gateway) AND x = 1';

/** Splits a statement into what is within quotes and what is not, as ClickHouse's lexer does. */
function lex(sql: string): { outside: string; literals: string[] } {
  const literals: string[] = [];
  const outside = sql.replaceAll(/'((?:[^'\\]|\\.)*)'/gs, (_, inner: string) => {
    literals.push(inner.replaceAll(/\\(.)/gs, '$1'));
    return '?';
  });
  return { outside, literals };
}

const nasty = fc.oneof(
  fc.string(),
  fc
    .array(
      fc.constantFrom(
        "'",
        '\\',
        '$__dateFilter(',
        '$__timeFilter(a, ',
        ')',
        ',',
        '${gateway:singlequote}',
        '$__conditionalAll(',
        ' OR 1=1 --',
        '\n',
      ),
    )
    .map((parts) => parts.join('')),
);

describe('the statement of a panel', () => {
  it('holds every chosen value as one literal, whatever is in it, and is otherwise the same', () => {
    fc.assert(
      fc.property(
        fc
          .array(nasty, { minLength: 1, maxLength: 4 })
          .filter((values) => values.some((value) => value !== '')),
        (values) => {
          const { outside, literals } = lex(statementOf(SQL, range, { gateway: values }));
          expect(literals).toEqual(values);
          expect(outside).toBe(
            `SELECT 1 WHERE t >= toDateTime(1700000000) AND t <= toDateTime(1700003600) AND gateway IN (${values.map(() => '?').join(',')}) AND x = 1`,
          );
        },
      ),
    );
  });

  it('leaves the condition out when everything is chosen, and when a text field is empty', () => {
    const without =
      'SELECT 1 WHERE t >= toDateTime(1700000000) AND t <= toDateTime(1700003600) AND 1=1 AND x = 1';
    expect(statementOf(SQL, range, { gateway: 'all' })).toBe(without);
    expect(statementOf(SQL, range, { gateway: [''] })).toBe(without);
    expect(statementOf('SELECT ${gateway:singlequote}', range, { gateway: [''] })).toBe("SELECT ''");
  });
});

describe('the chosen values', () => {
  const board = {
    uid: 'board',
    templating: {
      list: [
        { name: 'gateway', type: 'query', query: '', options: [] },
        { name: 'stage', type: 'custom', query: '', options: [{ value: '$__all' }, { value: 'CHECK' }] },
        { name: 'order_id', type: 'textbox', query: '', options: [] },
      ],
    },
  } as unknown as DashboardFile;

  it('are "All" where nothing is chosen, and empty where one types', () => {
    expect(chosenValues(board, {})).toEqual({ values: { gateway: 'all', stage: 'all', order_id: [''] } });
    expect(chosenValues(board, { gateway: ['a', '$__all'], order_id: ['$__all'] })).toEqual({
      values: { gateway: 'all', stage: 'all', order_id: ['$__all'] },
    });
  });

  it('are refused for a variable that the dashboard does not have, and a value that its list does not', () => {
    expect(chosenValues(board, { merchant: ['a'] })).toEqual({ problem: 'board has no variable merchant' });
    expect(chosenValues(board, { stage: ['CHECK', 'x'] })).toEqual({
      problem: 'variable stage has no such value',
    });
    expect(chosenValues(board, { stage: ['CHECK'] })).toMatchObject({ values: { stage: ['CHECK'] } });
  });
});

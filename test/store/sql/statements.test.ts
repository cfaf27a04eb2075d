import { describe, expect, it } from 'vitest';
import { splitStatements } from '../../../store/sql/statements.ts';

describe('a file of statements', () => {
  it('is split at semicolons that end a line', () => {
    expect(splitStatements('SELECT 1;\nSELECT 2 ; -- two\nSELECT 3')).toEqual([
      'SELECT 1',
      'SELECT 2',
      '-- two\nSELECT 3',
    ]);
  });

  it('is not split inside comments and quotes, nor in the middle of a line', () => {
    const sql =
      "-- a;\nSELECT ';\n', \"x;\n\", `y;\n`, 'it''s;\n', 'a\\';\n' /* b;\n */;\nSELECT 1; SELECT 2;\n";
    expect(splitStatements(sql)).toEqual([
      "-- a;\nSELECT ';\n', \"x;\n\", `y;\n`, 'it''s;\n', 'a\\';\n' /* b;\n */",
      'SELECT 1; SELECT 2',
    ]);
  });

  it('has no statement of comments alone', () => {
    expect(splitStatements('-- nothing;\n\n/* still\nnothing */\n;\n')).toEqual([]);
  });
});

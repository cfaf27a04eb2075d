import { describe, expect, it } from 'vitest';
import type { FunctionRules } from '../../../../store/embedded/reader/function-rules.ts';
import { judgeText } from '../../../../store/embedded/reader/judge.ts';

const allowed = new Set([
  'arrayreduce', 'initializeaggregation', 'cast', 'accuratecastornull', 'reinterpret', 'jsonextract', 'dynamicelement',
  'defaultvalueoftypename', 'sum', 'quantiles', 'groupconcat', 'concat', 'arraymap', 'tuple', 'in',
]); // prettier-ignore
const rules: FunctionRules = {
  meant: (name) => name.toLowerCase().replace('alias_of_', ''),
  mayCall: (name) => allowed.has(name.toLowerCase().replace('alias_of_', '')),
  mayName: (name) => name !== 'file',
  mayCallAsTable: (name) => name === 'values',
};
const refusal = (expression: string): string | null => {
  const judged = judgeText(`SELECT ${expression}`, rules);
  return 'refused' in judged ? judged.refused : null;
};

describe('texts that the engine parses may be', () => {
  it.each([
    "arrayReduce('sum', [1])",
    "arrayReduce('quantiles(0.5, 0.9)', [1])",
    "arrayReduce('groupConcat(\\',\\')', ['a'])",
    "initializeAggregation('quantiles(-1)', 1)",
    "CAST(a, 'Int8')",
    "CAST(a, 'Array(Nullable(DateTime64(3, \\'UTC\\')))')",
    "CAST(a, 'Enum8(\\'a (b)\\' = -1, \\'b\\' = 2)')",
    "CAST(a, 'Tuple(a Decimal(9, 2), b Map(String, Int8))')",
    "CAST(a, 'Tuple(`a b` Int8)')",
    "CAST(a, 'AggregateFunction(sum, Int8)')",
    "CAST(a, 'Array(AggregateFunction(quantiles(0.5, 0.9), UInt64))')",
    "CAST(a, 'SimpleAggregateFunction(sum, UInt64)')",
    "JSONExtract('{}', concat('a', 'b'), 'Int8')",
    "JSONExtract('f(x)', 'Tuple(a Int8)')",
    "defaultValueOfTypeName('Variant(Int8, String)')",
    "* FROM values('a Int8, b FixedString(3)', (1, 'a'))",
    "* FROM values('x', 'y')",
    "* FROM values(('f(x)', 1), ('b', 2))",
    '* FROM values((1), (2))',
    '* FROM values(-1, 2)',
    '* FROM values(NULL)',
    "* FROM values((concat('a', 'b'), 1))",
  ])('%s', (expression) => {
    expect(refusal(expression)).toBeNull();
  });
});

const SUBQUERY = '(SELECT max(key) FROM keys)';

describe('they may be nothing else', () => {
  it.each([
    `arrayReduce('groupConcat(${SUBQUERY})', [1])`,
    "arrayReduce('sum(file(1))', [1])",
    "arrayReduce('quantiles(0.5)(1)', [1])",
    "arrayReduce('quantiles(0.5), sum', [1])",
    "arrayReduce('quantiles(a)', [1])",
    "arrayReduce('quantiles([1])', [1])",
    "arrayReduce('quantiles(0.5', [1])",
    "arrayReduce('sumNot', [1])",
    "arrayReduce('`sum`', [1])",
    "arrayReduce('', [1])",
    "arrayReduce('\u2018', [1])",
    'arrayReduce({p:String}, [1])',
    'arrayReduce(x, [1])',
    "arrayReduce(concat('sum', ''), [1])",
    "arrayReduce(('sum'), [1])",
    "arrayReduce('sum' AS f, [1])",
    "ARRAYREDUCE('sum(x)', [1])",
    "`arrayReduce`('sum(x)', [1])",
    "alias_of_arrayReduce('sum(x)', [1])",
    "arrayMap(x -> arrayReduce('sum(x)', [1]), [1])",
    "initializeAggregation('groupConcat(file(1))', 1)",
    "CAST(a, 'AggregateFunction(groupConcat(file(1)), String)')",
    `CAST(a, 'AggregateFunction(groupConcat(${SUBQUERY}), String)')`,
    "CAST(a, 'Array(AggregateFunction(groupConcat(x), String))')",
    "CAST(a, 'AggregateFunction(other, String)')",
    "CAST(a, 'AggregateFunction(`sum`, String)')",
    "CAST(a, 'Int8 + f(1)')",
    "CAST(a, 'f(1)')",
    "CAST(a, '`Array`(Int8)')",
    "CAST(a, 'Array((Int8))')",
    "CAST(a, '')",
    'CAST(a, {t:String})',
    'CAST(a, t)',
    "accurateCastOrNull(a, 'f(1)')",
    "reinterpret(a, 'f(1)')",
    "dynamicElement(a, 'f(1)')",
    "defaultValueOfTypeName('f(1)')",
    "JSONExtract('{}', 'f(1)')",
    "JSONExtract('{}', 'a', 'f(1)')",
    "* FROM values('a String, b String ALIAS file(a)', ('x'))",
    "* FROM `values`('a String, b String ALIAS file(a)', ('x'))",
    "* FROM values(('a String, b String ALIAS file(a)'), ('x'))",
    "* FROM values((('a String ALIAS file(a)')), ('x'))",
    "* FROM values(concat('a String ALIAS ', 'file(a)'), ('x'))",
    "* FROM values((concat('a String ALIAS ', 'file(a)')), ('x'))",
    "* FROM values(['a String ALIAS file(a)'][1], ('x'))",
    "* FROM values(('a String ALIAS file(a)', 1).1, ('x'))",
    "* FROM values((SELECT 'a String ALIAS file(a)', 1), ('x'))",
    "* FROM values('a String ALIAS file(a)' AS s, ('x'))",
    '* FROM values({p:String}, 1)',
    "1 IN values('a String, b String ALIAS file(a)', ('x'))",
  ])('%s', (expression) => {
    expect(refusal(expression)).toMatch(/^this (?:aggregate|type|structure) in the function /);
  });

  it.each(['WITH arrayReduce AS f SELECT 1', 'SELECT arrayMap(CAST, [1], [2])', 'SELECT reinterpret'])(
    'under another name: %s',
    (sql) => {
      expect(judgeText(sql, rules)).toEqual({ refused: expect.stringMatching(/^the name /) });
    },
  );

  it('but a column may have the name of such a function', () => {
    expect(refusal('a AS cast, t.reinterpret')).toBeNull();
  });
});

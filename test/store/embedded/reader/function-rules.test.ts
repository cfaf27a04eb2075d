import { describe, expect, it } from 'vitest';
import { createFunctionRules } from '../../../../store/embedded/reader/function-rules.ts';

/**
 * A small engine: an alias, a function under the name of a combination, functions that readers may not call.
 */
const rules = createFunctionRules({
  functions: new Map([
    ['sum', 'sum'],
    ['count', 'count'],
    ['tostring', 'toString'],
    ['substr', 'substring'],
    ['substring', 'substring'],
    ['slurp', 'file'],
    ['file', 'file'],
    ['sumif', 'file'],
  ]),
  tableFunctions: new Set(['file', 'numbers', 'urlif']),
});

describe('the functions that a reader may call', () => {
  it.each(['sum', 'SUM', 'toString', 'TOSTRING', 'substr', 'SubStr', 'untuple', 'exists'])('%s', (name) => {
    expect(rules.mayCall(name)).toBe(true);
    expect(rules.mayName(name)).toBe(true);
  });

  it.each(['sumMerge', 'sumOrNullState', 'countDistinctIf', 'SUMMERGE', 'sumArgMin'])(
    '%s, an aggregate of others',
    (name) => {
      expect(rules.mayCall(name)).toBe(true);
    },
  );

  it.each(['nosuchfunction', 'nosuchfunctionIf'])('%s, which the engine refuses itself', (name) => {
    expect(rules.mayCall(name)).toBe(true);
    expect(rules.mayName(name)).toBe(true);
  });

  it.each(['file', 'FILE', 'slurp', 'sumIf'])('are without %s, which may not be named either', (name) => {
    expect(rules.mayCall(name)).toBe(false);
    expect(rules.mayName(name)).toBe(false);
  });

  it.each(['__secret', '__SECRET', 'numbers', 'urlIf', 'fileIf', 'fileOrNullState', '__secretIf'])(
    'are without %s, a name that means nothing by itself',
    (name) => {
      expect(rules.mayCall(name)).toBe(false);
      expect(rules.mayName(name)).toBe(true);
    },
  );
});

describe('the functions that a reader may use as tables', () => {
  it.each([
    ['numbers', true],
    ['NUMBERS', true],
    ['generateSeries', true],
    ['gatewatch.incident_orders', true],
    ['gatewatch.incident_population', true],
    ['file', false],
    ['sum', false],
  ])('%s: %s', (name, may) => {
    expect(rules.mayCallAsTable(name)).toBe(may);
  });
});

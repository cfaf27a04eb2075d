import { describe, expect, it } from 'vitest';
import { parseAst } from '../../../../collector/embedded/reader/ast.ts';

describe('parseAst', () => {
  it('reads kinds, names and parents', () => {
    const nodes = parseAst(
      'SelectQuery (children 1)\n ExpressionList (children 2)\n  Function file (alias x) (children 1)\n  Identifier a.b (alias c)\n',
    );
    expect(nodes.map(({ kind, name, depth, index }) => [kind, name, depth, index])).toEqual([
      ['SelectQuery', '', 0, 0],
      ['ExpressionList', '', 1, 0],
      ['Function', 'file', 2, 0],
      ['Identifier', 'a.b', 2, 1],
    ]);
    expect(nodes[3]?.parent).toBe(nodes[1]);
  });
});

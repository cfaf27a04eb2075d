import { describe, expect, it } from 'vitest';
import { parseAst } from '../../../../store/embedded/reader/ast.ts';

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
    expect(nodes[0]?.parent).toBeNull();
    expect(nodes[3]?.parent).toBe(nodes[1]);
  });

  it('goes back up to where a node hangs', () => {
    const nodes = parseAst('A\n B\n  C\n D\n  E\n');
    expect(nodes.map(({ kind, parent, index }) => `${parent?.kind} ${kind} ${index}`)).toEqual([
      'undefined A 0',
      'A B 0',
      'B C 0',
      'A D 1',
      'D E 0',
    ]);
  });

  it('hangs a node that is too deep on the one before it', () => {
    const nodes = parseAst('A\n   B\n C');
    expect(nodes.map(({ parent, depth }) => [parent?.kind, depth])).toEqual([
      [undefined, 0],
      ['A', 3],
      ['A', 1],
    ]);
  });

  it.each([
    ['Function f', 'f'],
    ['Function f (children 12)', 'f'],
    ['Function f (alias a b)', 'f'],
    ['Function f (alias a) (children 2)', 'f'],
    ['Function f(children 1)', 'f'],
    ['Function f(alias x)', 'f'],
    ['Identifier a (children 1) b', 'a (children 1) b'],
    ['Identifier a (children x)', 'a (children x)'],
    ['Identifier a (alias x) b', 'a (alias x) b'],
    ['Identifier  a ', 'a'],
    ['Asterisk', ''],
    ['Asterisk (children 1)', ''],
  ])('%j is called %j', (line, name) => {
    expect(parseAst(line)).toMatchObject([{ kind: line.split(' ')[0], name }]);
  });

  it('takes a first node for the root, however deep it stands', () => {
    expect(parseAst('  A')[0]?.parent).toBeNull();
  });

  it('passes over empty lines', () => {
    expect(parseAst('\nA\n \n\n B\n')).toHaveLength(2);
  });
});

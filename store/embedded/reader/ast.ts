/** One line of `EXPLAIN AST`: a node's kind, the rest of its line, and where it hangs. */
export interface AstNode {
  readonly kind: string;
  /**
   * What follows the kind, up to its alias and count of children: the name of a function, table or column.
   */
  readonly name: string;
  readonly depth: number;
  readonly parent: AstNode | null;
  /** Place among the children of its parent. */
  readonly index: number;
}

/**
 * Reads `EXPLAIN AST`'s text form: one node a line, one blank of indentation a level.
 *
 * A line break inside a name or literal makes an extra line here. That is harmless to a policy which refuses
 * every kind of node that it does not know: text can add nodes in this way, but not hide any.
 */
export function parseAst(text: string): AstNode[] {
  const nodes: AstNode[] = [];
  const path: AstNode[] = [];
  const children = new Map<AstNode | null, number>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const depth = line.length - line.trimStart().length;
    const content = line.trimStart();
    const blank = content.indexOf(' ');
    const kind = blank < 0 ? content : content.slice(0, blank);
    const parent = path.slice(0, depth).at(-1) ?? null;
    const index = children.get(parent) ?? 0;
    children.set(parent, index + 1);
    const node = { kind, name: nameOf(blank < 0 ? '' : content.slice(blank + 1)), depth, parent, index };
    nodes.push(node);
    path.length = Math.min(depth, path.length);
    path.push(node);
  }
  return nodes;
}

function nameOf(rest: string): string {
  return rest
    .replace(/ ?\(children \d+\)$/, '')
    .replace(/ ?\(alias .*\)$/s, '')
    .trim();
}

import { lexer, type MarkedToken, type Token } from 'marked';

/** What a text panel is made of: texts, and elements from this list with nothing but a link's address. */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  readonly tag: Tag;
  /** Of a link: within this site, or on the web. */
  readonly href?: string;
  readonly children: readonly MarkdownNode[];
}

type Tag =
  | `h${1 | 2 | 3 | 4 | 5 | 6}`
  | 'p'
  | 'ul'
  | 'ol'
  | 'li'
  | 'blockquote'
  | 'pre'
  | 'hr'
  | 'table'
  | 'tr'
  | 'th'
  | 'td'
  | 'b'
  | 'em'
  | 'del'
  | 'code'
  | 'a'
  | 'br';

/**
 * Markdown as Grafana reads it, by the same library. Only its tokens are used, never its HTML: HTML in the
 * source, images and links that lead elsewhere stay the text that they are.
 */
export const parseMarkdown = (source: string): MarkdownNode[] => nodesOf(lexer(source));

const nodesOf = (tokens: readonly Token[] = []): MarkdownNode[] =>
  joinTexts((tokens as readonly MarkedToken[]).flatMap(nodeOf));

const element = (tag: Tag, ...children: MarkdownNode[]): MarkdownElement => ({
  tag,
  children,
});

function nodeOf(token: MarkedToken): MarkdownNode | MarkdownNode[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'heading':
      return element(`h${token.depth as 1 | 2 | 3 | 4 | 5 | 6}`, ...nodesOf(token.tokens));
    case 'paragraph':
      return element('p', ...nodesOf(token.tokens));
    case 'list':
      return element(token.ordered ? 'ol' : 'ul', ...token.items.flatMap(nodeOf));
    case 'list_item':
      return element('li', ...nodesOf(token.tokens));
    case 'blockquote':
      return element('blockquote', ...nodesOf(token.tokens));
    case 'code':
      return element('pre', element('code', token.text));
    case 'table': {
      const rows = [token.header, ...token.rows].map((cells) =>
        cells.map((cell) => element(cell.header ? 'th' : 'td', ...nodesOf(cell.tokens))),
      );
      return element('table', ...rows.map((cells) => element('tr', ...cells)));
    }
    case 'hr':
    case 'br':
      return element(token.type);
    case 'strong':
      return element('b', ...nodesOf(token.tokens));
    case 'em':
    case 'del':
      return element(token.type, ...nodesOf(token.tokens));
    case 'codespan':
      return element('code', token.text);
    case 'escape':
      return token.text;
    case 'text':
      // In a list without blank lines an item's text holds the tokens of its line.
      return token.tokens === undefined ? token.text.replaceAll('\n', ' ') : nodesOf(token.tokens);
    case 'link':
      return isAllowed(token.href)
        ? { ...element('a', ...nodesOf(token.tokens)), href: token.href }
        : token.raw;
    case 'html':
      return 'block' in token && token.block ? element('p', token.raw.trim()) : token.raw;
    default:
      return token.raw;
  }
}

/** Links lead to this site or to the web, and nowhere else. */
const isAllowed = (href: string): boolean => /^(?:https?:\/\/|\/(?![/\\]))/.test(href);

function joinTexts(nodes: readonly MarkdownNode[]): MarkdownNode[] {
  const joined: MarkdownNode[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (typeof node === 'string' && typeof last === 'string') joined[joined.length - 1] = last + node;
    else joined.push(node);
  }
  return joined;
}

/** The words without their marks. */
export const plainWords = (nodes: readonly MarkdownNode[]): string =>
  nodes.map((node) => (typeof node === 'string' ? node : plainWords(node.children))).join('');

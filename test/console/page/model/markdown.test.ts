import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MarkdownNode, parseMarkdown, plainWords } from '../../../../console/page/model/markdown.ts';

const RUNBOOKS = fileURLToPath(new URL('../../../../alerts/runbooks', import.meta.url));

const tag = (name: string, ...children: unknown[]) => ({ tag: name, children });
const link = (href: string, ...children: unknown[]) => ({ tag: 'a', href, children });
const p = (...children: unknown[]) => tag('p', ...children);

describe('Markdown of text panels', () => {
  it('has headings, paragraphs and lists', () => {
    expect(
      parseMarkdown('# One\n\nTwo\nlines.\n\n1. first\n2. second\n   goes on\n\n- a\n- b\n### Deep ###\nend'),
    ).toEqual([
      tag('h1', 'One'),
      p('Two lines.'),
      tag('ol', tag('li', 'first'), tag('li', 'second goes on')),
      tag('ul', tag('li', 'a'), tag('li', 'b')),
      tag('h3', 'Deep'),
      p('end'),
    ]);
  });

  it('has lists within lists, quotes, rules and tables', () => {
    expect(parseMarkdown('- a\n  - b\n\n> c\n\n---\n\n|d|\n|-|\n|`e`|')).toEqual([
      tag('ul', tag('li', 'a', tag('ul', tag('li', 'b')))),
      tag('blockquote', p('c')),
      tag('hr'),
      tag('table', tag('tr', tag('th', 'd')), tag('tr', tag('td', tag('code', 'e')))),
    ]);
  });

  it('keeps fenced code as it is written, also one that never ends', () => {
    expect(parseMarkdown('before\n```sql\nSELECT 1\n\n# no **heading**\n```\nafter')).toEqual([
      p('before'),
      tag('pre', tag('code', 'SELECT 1\n\n# no **heading**')),
      p('after'),
    ]);
    expect(parseMarkdown('```\na\nb')).toEqual([tag('pre', tag('code', 'a\nb'))]);
  });

  it('has bold, code and links within a line; code is taken as it is', () => {
    expect(parseMarkdown('a **b** `c **d**` [e](/d/f) [g](https://h.example/i) *j* ~~k~~')).toEqual([
      p(
        'a ',
        tag('b', 'b'),
        ' ',
        tag('code', 'c **d**'),
        ' ',
        link('/d/f', 'e'),
        ' ',
        link('https://h.example/i', 'g'),
        ' ',
        tag('em', 'j'),
        ' ',
        tag('del', 'k'),
      ),
    ]);
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](JAVASCRIPT:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](//evil.example)',
    '[x](/\\evil.example)',
    '[x](data:text/html,y)',
    '<javascript:alert(1)>',
    '![x](https://evil.example/y.png)',
    '<img src=x onerror=y>',
    'a <img src=x onerror=y> b',
    '<script>alert(1)</script>',
    '2 * 3 * 4 and a ** b',
  ])('leaves %s as text', (source) => {
    expect(parseMarkdown(source)).toEqual([p(source)]);
  });

  it('follows no reference to elsewhere, and no mail address', () => {
    expect(parseMarkdown('[x][a] who@evil.example\n\n[a]: javascript:alert(1)')).toEqual([
      p('[x][a] who@evil.example'),
    ]);
  });

  it('makes of any text only elements that are known, with addresses of this site or the web', () => {
    const marks = fc.constantFrom(
      '[', ']', '(', ')', '<', '>', '!', '`', '*', '_', '#', '- ', '1. ', '|', '\\', '&', '~~', '\n', '\n\n', '    ',
      'javascript:', 'https://', '/', '//', 'a', ' ', '\t', '"', '<script>', '<a href=', 'onload=',
    ); // prettier-ignore
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 60 }), (parts) => {
        for (const node of flat(parseMarkdown(parts.join('')))) {
          if (typeof node === 'string') continue;
          expect(node.tag).toMatch(/^(h[1-6]|p|[uo]l|li|blockquote|pre|hr|table|t[rhd]|b|em|del|code|a|br)$/);
          if (node.href !== undefined) expect(node.href).toMatch(/^(https?:\/\/|\/(?![/\\]))/);
        }
      }),
    );
  });

  it('ends on any text', () => {
    for (const source of ['', '\n\n', '- ', '1.', '#', '```', '   ', '**', '[]()'])
      expect(Array.isArray(parseMarkdown(source))).toBe(true);
  });

  // The time that a test has is the limit: what grows with a power of the length does not end within it.
  it.each(['[', '![', '**a', '`', '> ', '<', '<!--', '| a ', '- ', '[a](', '&', '_a*b', '\\[', ' `'])(
    'ends soon on many repetitions of %j',
    (part) => {
      expect(parseMarkdown(part.repeat(1_200))).toBeDefined();
    },
  );
});

const flat = (nodes: readonly MarkdownNode[]): MarkdownNode[] =>
  nodes.flatMap((node) => (typeof node === 'string' ? [node] : [node, ...flat(node.children)]));

describe.each(readdirSync(RUNBOOKS).filter((name) => name.endsWith('.md')))('the runbook %s', (name) => {
  const source = readFileSync(`${RUNBOOKS}/${name}`, 'utf8');
  const blocks = parseMarkdown(source);
  const all = (...tags: string[]): MarkdownNode[] =>
    blocks.filter((block) => typeof block === 'object' && tags.includes(block.tag));

  it('is understood: steps, queries, and no mark left over', () => {
    expect(all('h1', 'h2', 'h3').length).toBeGreaterThan(4);
    expect(all('ol')).not.toEqual([]);
    expect(all('pre')).toHaveLength((source.match(/^```sql$/gm) ?? []).length);
    const withoutCode = (nodes: readonly MarkdownNode[]): string[] =>
      nodes.flatMap((node) =>
        typeof node === 'string' ? [node] : node.tag === 'code' ? [] : withoutCode(node.children),
      );
    expect(withoutCode(blocks).filter((part) => /\*\*|`|\]\(|^[#>|]/.test(part))).toEqual([]);
    expect(plainWords(all('h1'))).toBe(name.replace(/\.md$/, ''));
  });
});

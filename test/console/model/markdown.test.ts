import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Block, parseMarkdown } from '../../../console/page/model/markdown.ts';

const RUNBOOKS = fileURLToPath(new URL('../../../alerts/runbooks', import.meta.url));

const text = (value: string) => ({ kind: 'text', text: value });
const paragraph = (...parts: object[]) => ({ kind: 'paragraph', text: parts });

describe('Markdown of text panels', () => {
  it('has headings, paragraphs and lists', () => {
    expect(
      parseMarkdown('# One\n\nTwo\nlines.\n\n1. first\n2. second\n   goes on\n\n- a\n* b\n### Deep ###\nend'),
    ).toEqual([
      { kind: 'heading', level: 1, text: [text('One')] },
      paragraph(text('Two lines.')),
      { kind: 'list', ordered: true, items: [[text('first')], [text('second goes on')]] },
      { kind: 'list', ordered: false, items: [[text('a')], [text('b')]] },
      { kind: 'heading', level: 3, text: [text('Deep')] },
      paragraph(text('end')),
    ]);
  });

  it('keeps fenced code as it is written, also one that never ends', () => {
    expect(parseMarkdown('before\n```sql\nSELECT 1\n\n# no **heading**\n```\nafter')).toEqual([
      paragraph(text('before')),
      { kind: 'code', text: 'SELECT 1\n\n# no **heading**' },
      paragraph(text('after')),
    ]);
    expect(parseMarkdown('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }]);
  });

  it('has bold, code and links within a line; code is taken as it is', () => {
    expect(parseMarkdown('a **b** `c **d**` [e](/d/f) [g](https://h.example/i)')).toEqual([
      paragraph(
        text('a '),
        { kind: 'bold', text: 'b' },
        text(' '),
        { kind: 'code', text: 'c **d**' },
        text(' '),
        { kind: 'link', text: 'e', href: '/d/f' },
        text(' '),
        { kind: 'link', text: 'g', href: 'https://h.example/i' },
      ),
    ]);
  });

  it.each([
    '[x](javascript:alert(1))',
    '[x](//evil.example)',
    '[x](data:text/html,y)',
    '<img src=x onerror=y>',
    '2 * 3 * 4 and a ** b',
  ])('leaves %s as text', (source) => {
    expect(parseMarkdown(source)).toEqual([paragraph(text(source))]);
  });

  it('ends on any text', () => {
    for (const source of ['', '\n\n', '- ', '1.', '#', '```', '   ', '**', '[]()'])
      expect(Array.isArray(parseMarkdown(source))).toBe(true);
  });
});

describe.each(readdirSync(RUNBOOKS).filter((name) => name.endsWith('.md')))('the runbook %s', (name) => {
  const source = readFileSync(`${RUNBOOKS}/${name}`, 'utf8');
  const blocks = parseMarkdown(source);
  const all = (kind: Block['kind']): Block[] => blocks.filter((block) => block.kind === kind);

  it('is understood: steps, queries, and no mark left over', () => {
    expect(all('heading').length).toBeGreaterThan(4);
    expect(all('list')).toContainEqual(expect.objectContaining({ ordered: true }));
    expect(all('code')).toHaveLength((source.match(/^```sql$/gm) ?? []).length);
    const words = blocks.flatMap((block) =>
      block.kind === 'code' ? [] : block.kind === 'list' ? block.items.flat() : [...block.text],
    );
    const plain = words.filter(({ kind }) => kind === 'text').map((part) => part.text);
    expect(plain.filter((part) => /\*\*|`|\]\(|^[#>|]/.test(part))).toEqual([]);
  });
});

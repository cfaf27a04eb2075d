import { fill } from '../model/links.ts';
import { type MarkdownNode, parseMarkdown, plainWords } from '../model/markdown.ts';
import { h } from '../ui/dom.ts';
import { optionsOf, type Drawn, type PanelContext } from './context.ts';

/** A text panel: Markdown, made of elements, one by one. */
export function drawText(context: PanelContext): Drawn {
  const { content = '' } = optionsOf<{ content: string }>(context.panel);
  if (content.trim() === '') return { summary: '', empty: true };
  const text = fill(content, context.linkContext, false);
  const title = context.panel.title ?? 'Text';
  const blocks = withoutTitle(parseMarkdown(text), title);
  context.body.append(
    h(
      'div',
      { class: 'text-panel', tabindex: 0, role: 'region', 'aria-label': `${title}, text` },
      ...blocks.map(elementOf),
    ),
  );
  return { summary: text };
}

/** A runbook begins with its name, and so does its panel. */
function withoutTitle(blocks: readonly MarkdownNode[], title: string): readonly MarkdownNode[] {
  const [first] = blocks;
  const repeats = typeof first === 'object' && first.tag === 'h1' && plainWords(first.children) === title;
  return repeats ? blocks.slice(1) : blocks;
}

function elementOf(node: MarkdownNode): Node | string {
  if (typeof node === 'string') return node;
  const children = node.children.map(elementOf);
  if (node.tag === 'a') return h('a', { href: node.href }, ...children);
  if (node.tag === 'pre') return h('pre', { tabindex: 0 }, ...children);
  return h(HEADINGS[node.tag] ?? node.tag, {}, ...children);
}

/** Below the panel's own heading, which is the third. */
const HEADINGS: Readonly<Record<string, 'h4' | 'h5'>> = {
  h1: 'h4',
  h2: 'h4',
  h3: 'h5',
  h4: 'h5',
  h5: 'h5',
  h6: 'h5',
};

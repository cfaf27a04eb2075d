import { fill } from '../model/links.ts';
import { type Block, type Inline, parseMarkdown } from '../model/markdown.ts';
import { h } from '../ui/dom.ts';
import { optionsOf, type Drawn, type PanelContext } from './context.ts';

interface Options {
  readonly mode: 'markdown' | 'html' | 'code';
  readonly content: string;
}

/**
 * A text panel. Markdown is made of elements, one by one; HTML, which is never read here, is shown as it is
 * written.
 */
export function drawText(context: PanelContext): Drawn {
  const { mode = 'markdown', content = '' } = optionsOf<Options>(context.panel);
  if (content.trim() === '') return { summary: '', empty: true };
  const text = fill(content, context.linkContext, false);
  const blocks = mode === 'markdown' ? parseMarkdown(text) : [{ kind: 'code', text } as const];
  const title = context.panel.title ?? 'Text';
  context.body.append(
    h(
      'div',
      { class: 'text-panel', tabindex: 0, role: 'region', 'aria-label': `${title}, text` },
      // A runbook begins with its name, and so does its panel.
      ...blocks.filter((block, index) => index > 0 || !isTitle(block, title)).map(elementOf),
    ),
  );
  return { summary: text };
}

const isTitle = (block: Block, title: string): boolean =>
  block.kind === 'heading' && block.level === 1 && block.text.map(({ text }) => text).join('') === title;

function elementOf(block: Block): HTMLElement {
  switch (block.kind) {
    case 'heading':
      // Below the panel's own heading, which is the third.
      return h(block.level < 3 ? 'h4' : 'h5', {}, ...block.text.map(nodeOf));
    case 'list':
      return h(
        block.ordered ? 'ol' : 'ul',
        {},
        ...block.items.map((item) => h('li', {}, ...item.map(nodeOf))),
      );
    case 'code':
      return h('pre', { tabindex: 0 }, h('code', {}, block.text));
    case 'paragraph':
      return h('p', {}, ...block.text.map(nodeOf));
  }
}

function nodeOf(part: Inline): Node | string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'bold':
      return h('b', {}, part.text);
    case 'code':
      return h('code', {}, part.text);
    case 'link':
      return h('a', { href: part.href }, part.text);
  }
}

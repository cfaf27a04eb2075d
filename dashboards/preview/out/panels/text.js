import { fill } from '../model/links.js';
import { h } from '../ui/dom.js';
import { optionsOf,                               } from './context.js';

/** Markdown of a text panel: headings, lists, links, emphasis and code; everything else as it is written. */
export function drawText(context              )        {
  const { content = '' } = optionsOf                     (context.panel);
  const blocks = fill(content, context.linkContext, false)
    .trim()
    .split(/\n{2,}/);
  const article = h('div', { class: 'text-panel' });
  for (const block of blocks) {
    const lines = block.split('\n');
    const [, marks, heading] = /^(#{1,6}) (.*)$/.exec(lines[0] ?? '') ?? [];
    if (marks !== undefined) article.append(h(marks.length < 3 ? 'h3' : 'h4', {}, ...inline(heading ?? '')));
    else if (lines.every((line) => /^[-*] /.test(line)))
      article.append(h('ul', {}, ...lines.map((line) => h('li', {}, ...inline(line.slice(2))))));
    else article.append(h('p', {}, ...inline(lines.join(' '))));
  }
  context.body.append(article);
  return { summary: content };
}

function inline(text        )                    {
  const parts                    = [];
  let at = 0;
  for (const match of text.matchAll(
    /\[([^\]]+)\]\(((?:https?:\/\/|\/)[^)\s]+)\)|\*\*([^*]+)\*\*|`([^`]+)`/g,
  )) {
    parts.push(text.slice(at, match.index));
    const [whole, label, href, bold, code] = match;
    if (href !== undefined) parts.push(h('a', { href }, label ?? href));
    else if (bold !== undefined) parts.push(h('b', {}, bold));
    else parts.push(h('code', {}, code ?? ''));
    at = match.index + whole.length;
  }
  return [...parts, text.slice(at)];
}

/**
 * Markdown of text panels, as far as runbooks and notes need it: headings, paragraphs, lists of one level,
 * fenced code, bold, `code` and links. Data, never HTML: what is not understood stays the text that it is.
 */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly text: readonly Inline[] }
  | { readonly kind: 'list'; readonly ordered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string };

export type Inline =
  | { readonly kind: 'text' | 'bold' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const FENCE = /^```/;
const HEADING = /^(#{1,6}) +(.*?) *#*$/;
const BULLET = /^[-*] +(.*)$/;
const NUMBER = /^\d+[.)] +(.*)$/;

export function parseMarkdown(source: string): Block[] {
  const lines = source.replaceAll('\r\n', '\n').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const [, marks, heading = ''] = HEADING.exec(line) ?? [];
    if (line.trim() === '') at += 1;
    else if (FENCE.test(line)) {
      const end = lines.findIndex((one, index) => index > at && FENCE.test(one));
      const last = end === -1 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') });
      at = last + 1;
    } else if (marks !== undefined) {
      blocks.push({ kind: 'heading', level: marks.length, text: inline(heading) });
      at += 1;
    } else if (BULLET.test(line) || NUMBER.test(line)) at = readList(lines, at, blocks);
    else {
      const end = endOfParagraph(lines, at);
      blocks.push({ kind: 'paragraph', text: inline(lines.slice(at, end).join(' ')) });
      at = end;
    }
  }
  return blocks;
}

/** An item goes on in the lines that are set in below it. @returns the line after the list */
function readList(lines: readonly string[], from: number, blocks: Block[]): number {
  const mark = BULLET.test(lines[from] ?? '') ? BULLET : NUMBER;
  const items: string[] = [];
  let at = from;
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, item] = mark.exec(line) ?? [];
    if (item !== undefined) items.push(item);
    else if (/^ {2,}\S/.test(line)) items.push(`${items.pop() ?? ''} ${line.trim()}`);
    else break;
  }
  blocks.push({ kind: 'list', ordered: mark === NUMBER, items: items.map(inline) });
  return at;
}

function endOfParagraph(lines: readonly string[], from: number): number {
  const begins = [/^\s*$/, FENCE, HEADING, BULLET, NUMBER];
  const length = lines.slice(from + 1).findIndex((line) => begins.some((begin) => begin.test(line)));
  return length === -1 ? lines.length : from + 1 + length;
}

/** Links lead to this site or to the web, and nowhere else. */
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(((?:https?:\/\/|\/(?!\/))[^)\s]*)\)/g;

function inline(text: string): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  const plain = (end: number): void => {
    if (end > at) parts.push({ kind: 'text', text: text.slice(at, end) });
  };
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, label = '', href] = match;
    plain(match.index);
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (bold !== undefined) parts.push({ kind: 'bold', text: bold });
    else parts.push({ kind: 'link', text: label, href: href ?? '' });
    at = match.index + whole.length;
  }
  plain(text.length);
  return parts;
}

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.join(import.meta.dirname, '..', '..');

/** Every page people read: the root's Markdown files, docs/ and the runbooks. */
export function documents(): string[] {
  return globSync(['*.md', 'docs/**/*.md', 'alerts/runbooks/*.md'], { cwd: ROOT }).sort();
}

export const readDocument = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** The cells of every table row whose first cell matches, in order. */
export function tableRows(markdown: string, firstCell: RegExp): string[][] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
    .filter((cells) => firstCell.test(cells[0] ?? ''));
}

/** Code blocks of one language. */
export function codeBlocks(markdown: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms');
  return Array.from(markdown.matchAll(fence), (match) => match[1] ?? '');
}

/** Anchors that GitHub makes of headings. */
export function anchors(markdown: string): Set<string> {
  const headings = withoutCode(markdown).matchAll(/^#+ +(.+)$/gm);
  return new Set(Array.from(headings, (match) => slug(match[1] ?? '')));
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

export const withoutCode = (markdown: string): string => markdown.replace(/^```.*?^```/gms, '');

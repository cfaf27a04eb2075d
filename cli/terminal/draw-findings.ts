import type { FoundFindings } from '../../operate/findings/list-findings.ts';
import { printable, type Output } from './host.ts';
import { drawTable } from './table.ts';

const HEADERS = [
  'found (UTC)',
  'gateway',
  'order',
  'kind',
  'subject',
  'side',
  'expected',
  'received',
  'resolved',
];

/** Findings as a table, newest first, with how many there are beyond it. */
export function drawFindings(output: Output, { findings, total, open }: FoundFindings): string {
  if (total === 0) return 'Nothing was found: the sources agree.\n';
  const rows = findings.map((one) => [
    shortTime(one.found_at),
    ...[one.gateway, one.external_id, one.kind, one.subject, one.side, one.expected, one.received].map(
      printable,
    ),
    one.resolved_at === null ? output.paint('red', 'open') : shortTime(one.resolved_at),
  ]);
  const more = total > findings.length ? `, the newest ${findings.length} shown` : '';
  return `${drawTable(output, { headers: HEADERS, rows })}\n${total} found, ${open} open${more}.\n`;
}

const shortTime = (iso: string): string => iso.slice(0, 19).replace('T', ' ');

import type { AlertLine } from '../../schemas/alert-line.ts';
import type { Output } from './host.ts';
import { printable } from './host.ts';
import { drawTable } from './table.ts';

/** A table of what every rule sees, what fires at its top, and one line that sums up. */
export function drawAlerts(output: Output, lines: readonly AlertLine[]): string {
  const firing = lines.filter((line) => line.firing);
  const quiet = lines.filter((line) => !line.firing);
  const table = drawTable(output, {
    headers: ['state', 'rule', 'severity', 'where', 'sees', 'fires at', 'window (UTC)'],
    rows: [...firing, ...quiet].map((line) => [
      line.firing ? output.paint('red', 'FIRING') : output.paint('green', 'quiet'),
      line.rule,
      line.severity,
      whereOf(line),
      seesOf(line),
      limitOf(line),
      windowOf(line),
    ]),
    rightAligned: new Set([5]),
  });
  return `${table}\n${firing.length} firing, ${quiet.length} quiet.\n`;
}

function whereOf({ labels }: AlertLine): string {
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => printable(`${name}=${value}`))
    .join(' ');
}

function seesOf({ values }: AlertLine): string {
  const { affected, seen, share, expected, number } = values;
  if (affected !== undefined) {
    const percent = share == null ? '' : ` (${rounded(share * 100)} %)`;
    return `${rounded(affected)} of ${rounded(seen)}${percent}`;
  }
  if (expected === undefined) return rounded(number);
  return `${rounded(seen)}, ${expected === null || expected <= 0 ? 'no history yet to expect by' : `${rounded(expected)} expected`}`;
}

/**
 * What fires: the comparison of the rule's last expression. Below zero nothing can: there is no history yet
 * to set it by.
 */
function limitOf({ values }: AlertLine): string {
  const { limit } = values;
  if (limit == null || limit < 0) return '-';
  const comparison = values['affected'] !== undefined ? '>=' : values['expected'] !== undefined ? '<=' : '>';
  return `${comparison} ${rounded(limit)}`;
}

function windowOf({ values }: AlertLine): string {
  const { window_from: from, window_to: to, as_of: asOf } = values;
  if (from != null && to != null) {
    const days = Math.floor(to / DAY_S) - Math.floor(from / DAY_S);
    return `${minuteOf(from)} to ${minuteOf(to)}${days > 0 ? ` (+${days} d)` : ''}`;
  }
  return asOf == null ? '' : `at ${minuteOf(asOf)}`;
}

const DAY_S = 86_400;

const minuteOf = (epochS: number): string => new Date(epochS * 1000).toISOString().slice(11, 16);

const rounded = (value: number | null | undefined): string =>
  value == null ? 'none' : String(Number(value.toFixed(1)));

import { sliceText } from '../../alerts/count/slices.ts';
import { minuteText, timesText } from '../../alerts/explain/zoned.ts';
import type { Silence } from '../../schemas/silence.ts';
import { type Output, printable } from './host.ts';
import { drawTable } from './table.ts';

/** Silences and acknowledgements that hold, a line each; '' when there are none. */
export function drawSilences(output: Output, silences: readonly Silence[], timeZone = 'UTC'): string {
  if (silences.length === 0) return '';
  const table = drawTable(output, {
    headers: ['held back', 'id', 'what', 'until', 'by', 'reason'],
    rows: silences.map((silence) => [
      silence.kind,
      printable(silence.id),
      whatOf(silence),
      untilOf(silence, timeZone),
      printable(silence.by),
      printable(silence.reason),
    ]),
  });
  return `${table}\n`;
}

/** What holds an alert back: `silenced until 12:00 UTC, by Ann: the reason`. */
export const heldText = ({ kind, until, by, reason }: Silence, timeZone = 'UTC'): string =>
  `${kind}${until === null ? '' : ` until ${timesText([until * 1000], timeZone, minuteText)}`}` +
  `${by === '' ? '' : `, by ${printable(by)}`}: ${printable(reason)}`;

/** What a command has done, and how it is taken back. */
export const silencedText = (silence: Silence, timeZone = 'UTC'): string =>
  `${whatOf(silence)}: ${silence.kind} ${silence.until === null ? 'until it ends' : `until ${untilOf(silence, timeZone)}`}. ` +
  `Take it back with "gatewatch alerts unsilence ${silence.id}".`;

const untilOf = ({ until }: Silence, timeZone: string): string =>
  until === null ? 'it ends' : timesText([until * 1000], timeZone, minuteText);

const whatOf = ({ rule, gateway, slice, label }: Silence): string =>
  [rule === '' ? 'all rules' : rule, gateway, sliceText(slice), label]
    .filter((name) => name !== '')
    .map(printable)
    .join(' ');

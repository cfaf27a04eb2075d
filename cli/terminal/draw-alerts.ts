import type { AlertLine, AlertNumbers } from '../../schemas/alert-line.ts';
import { localTexts, minuteText, timesText } from '../../alerts/explain/zoned.ts';
import { isUtc } from '../../schemas/local-time.ts';
import type { Output } from './host.ts';
import { printable } from './host.ts';
import { drawTable } from './table.ts';

/**
 * A table of what every rule saw last, and one line that sums up.
 *
 * @param timeZone the reader's, for times beside UTC
 */
export function drawAlerts(output: Output, lines: readonly AlertLine[], timeZone = 'UTC'): string {
  const zoned = (title: string): string =>
    isUtc(timeZone) ? `${title} (UTC)` : `${title}, UTC (${timeZone})`;
  const table = drawTable(output, {
    headers: ['state', zoned('since'), 'rule', 'severity', 'where', 'sees', 'fires at', zoned('window')],
    rows: lines.map((line) => [
      stateOf(output, line),
      line.since === null ? '' : inZones([line.since], timeZone, true),
      line.rule,
      line.severity,
      whereOf(line),
      line.numbers === null ? '' : seesOf(line.numbers),
      line.numbers === null ? '' : limitOf(line.numbers),
      line.numbers === null ? '' : windowOf(line.numbers, timeZone),
    ]),
    rightAligned: new Set([6]),
  });
  return `${table}\n${sumOf(lines)}\n`;
}

/**
 * Of when the evaluation is.
 * @param nowMs from which its age follows; null where that is of no interest
 */
export function drawAge(asOf: number, nowMs: number | null, timeZone = 'UTC'): string {
  const at = timesText([asOf * 1000], timeZone, minuteText);
  if (nowMs === null) return `As evaluated at ${at}.\n`;
  const minutes = Math.floor((nowMs - asOf) / MINUTE_MS);
  const age =
    minutes < 1 ? 'less than a minute ago' : `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} ago`;
  const late = minutes >= 3 ? ' No collector has evaluated the rules since.' : '';
  return `Evaluated at ${at}, ${age}.${late}\n`;
}

const SHOWN: Readonly<Record<string, readonly [colour: 'red' | 'yellow' | 'green', text: string]>> = {
  Alerting: ['red', 'FIRING'],
  NoData: ['red', 'NO DATA'],
  Error: ['red', 'ERROR'],
  Pending: ['yellow', 'pending'],
  Recovering: ['yellow', 'ending'],
  NotJudged: ['yellow', 'not judged'],
  Normal: ['green', 'quiet'],
};
const shownState = (state: string) => SHOWN[state] ?? (['red', state] as const);

function stateOf(output: Output, { state }: AlertLine): string {
  const [colour, text] = shownState(state);
  return output.paint(colour, printable(text));
}

function sumOf(lines: readonly AlertLine[]): string {
  const counts = Object.keys(SHOWN).map((state) => {
    const count = lines.filter((line) => line.state === state).length;
    return { state, count, text: `${count} ${shownState(state)[1].toLowerCase()}` };
  });
  const shown = counts.filter(({ state, count }) => count > 0 || state === 'Alerting' || state === 'Normal');
  return `${shown.map(({ text }) => text).join(', ')}.`;
}

function whereOf({ labels }: AlertLine): string {
  return Object.entries(labels)
    .map(([name, value]) => printable(`${name}=${value}`))
    .join(' ');
}

function seesOf({ kind, affected, seen, share, expected, number }: AlertNumbers): string {
  switch (kind) {
    case 'share':
      return `${rounded(affected)} of ${rounded(seen)}${share === null ? '' : ` (${rounded(share * 100)} %)`}`;
    case 'drop':
      return `${rounded(seen)}, ${expected === null || expected <= 0 ? 'no history yet to expect by' : `${rounded(expected)} expected`}`;
    case 'gauge':
      return rounded(number);
  }
}

const COMPARISON = { share: '>=', drop: '<=', gauge: '>' } as const;

/** Below zero nothing can fire: there is no history yet to set it by. */
function limitOf({ kind, limit, suppressedBy }: AlertNumbers): string {
  if (suppressedBy === 'settings') return 'off';
  if (suppressedBy !== '') return `see ${printable(suppressedBy)}`;
  return limit < 0 ? '-' : `${COMPARISON[kind]} ${rounded(limit)}`;
}

function windowOf({ kind, windowFrom, windowTo, asOf }: AlertNumbers, timeZone: string): string {
  if (kind === 'gauge') return `at ${inZones([asOf], timeZone)}`;
  const days = Math.floor(windowTo / DAY_MS) - Math.floor(windowFrom / DAY_MS);
  return `${inZones([windowFrom, windowTo], timeZone)}${days > 0 ? ` (+${days} d)` : ''}`;
}

/** `19:39 to 19:54 (20:39 to 20:54)`: UTC, and the reader's clocks where they show something else. */
function inZones(instants: readonly number[], timeZone: string, withDay = false): string {
  const micros = instants.map((ms) => ms * 1000);
  const utc = micros.map((at) => minuteText(at, withDay)).join(' to ');
  const local = localTexts(micros, timeZone, minuteText, withDay).join(' to ');
  return local === '' ? utc : `${utc} (${local})`;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const rounded = (value: number | null): string =>
  value === null ? 'none' : String(Number(value.toFixed(1)));

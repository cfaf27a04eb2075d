import type { OrderTimeline, TimelineEvent, TimelineIdentity } from '../../schemas/order-timeline.ts';
import { reasonCell, resultCell, stateCell } from '../commands/decode.ts';
import { causeInWords, isSignatureCause } from '../../schemas/signature-causes.ts';
import { printable, type Output } from './host.ts';
import { drawTable } from './table.ts';

/** One order for people: head, history, callbacks, status requests. Times are UTC. */
export function drawTimeline(output: Output, timeline: OrderTimeline): string {
  const parts = [
    drawHead(output, timeline),
    drawEvents(output, timeline.events),
    drawCallbacks(output, timeline.callbacks),
    drawPolls(output, timeline),
    drawOthers(timeline.alsoMatching),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function drawHead(output: Output, { order, polls: { refusedItems } }: OrderTimeline): string {
  const id = order.externalId ?? order.externalTransactionId ?? '';
  const title = output.paint('bold', `${order.orderType} ${printable(id)}`);
  const reason =
    order.reasonGroup === null || order.reasonGroup === 'NONE'
      ? ''
      : ` (${order.reasonGroup}.${order.reasonDetail})`;
  const outcome = order.outcome === null ? 'pending' : `${order.outcome}${reason}`;
  const colour = order.outcome === 'succeeded' ? 'green' : order.outcome === null ? 'yellow' : 'red';
  const source = order.currencySource === null ? '' : ` (currency from the ${order.currencySource})`;
  const amount = order.amount === null ? null : `${order.amount} ${order.currency ?? ''}`.trim() + source;
  const merchantId = order.externalId === null ? null : order.externalTransactionId;
  const facts: readonly (readonly [string, string | null, typeof colour?])[] = [
    ['status', order.status ?? 'not read yet'],
    ['outcome', outcome, colour],
    [
      'incomplete',
      refusedItems === 0
        ? null
        : `parts of the newest reply that could not be read: ${refusedItems}, see the view rejects`,
      'yellow',
    ],
    ['amount', amount],
    ['channel', order.channel],
    ['merchant id', merchantId],
    ['first seen', shortTime(order.firstSeenAt)],
    ['final', shortTime(order.finalAt)],
    ['settled', shortTime(order.settledAt)],
    ['given up', shortTime(order.abandonedAt)],
    ['trace', order.traceId],
  ];
  const lines = facts.flatMap(([name, value, paint]) => {
    if (value === null) return [];
    const text = paint === undefined ? printable(value) : output.paint(paint, printable(value));
    return [`  ${output.paint('dim', name.padEnd(12))} ${text}`];
  });
  return `${title} at ${printable(order.gateway)}\n${lines.join('\n')}\n`;
}

function drawEvents(output: Output, events: readonly TimelineEvent[]): string {
  if (events.length === 0) return '  No history has been read yet.\n';
  const first = events[0]?.time ?? '';
  const table = drawTable(output, {
    indent: '  ',
    rightAligned: new Set([1]),
    headers: [
      `TIME (UTC, ${first.slice(0, 10)})`,
      'AFTER',
      '',
      'CODE',
      'STAGE',
      'RESULT',
      'STATE',
      'REASON',
      'MEANING',
    ],
    rows: events.map((event) => [
      event.time.slice(0, 10) === first.slice(0, 10)
        ? event.time.slice(11, 23)
        : (shortTime(event.time) ?? ''),
      event.sincePreviousMs === null ? '' : `+${duration(event.sincePreviousMs)}`,
      mark(output, event),
      printable(event.action),
      event.stage ?? '-',
      event.result === null ? '-' : resultCell(output, { result: event.result as 'FAILURE' }),
      stateCell(output, event),
      reasonCell(event),
      meaning(output, event),
    ]),
  });
  const legend = [
    events.some((event) => event.deciding) ? '= decides the outcome' : '',
    events.some((event) => event.late) ? '+ came after a final state had been seen' : '',
  ].filter((text) => text !== '');
  return table + (legend.length === 0 ? '' : `  ${output.paint('dim', legend.join(', '))}\n`);
}

function mark(output: Output, event: TimelineEvent): string {
  return output.paint('bold', (event.deciding ? '=' : '') + (event.late ? '+' : ''));
}

function meaning(output: Output, event: TimelineEvent): string {
  const text = event.description ?? `not decoded (${event.format})`;
  if (!event.late) return text;
  return `${text} ${output.paint('yellow', `(first seen ${shortTime(event.observedAt) ?? ''})`)}`;
}

function drawCallbacks(output: Output, callbacks: OrderTimeline['callbacks']): string {
  if (callbacks.length === 0) return '  No callback has come.\n';
  const table = drawTable(output, {
    indent: '  ',
    rightAligned: new Set([5]),
    headers: ['CALLBACK', 'VERDICT', 'STATUS', 'AMOUNT', 'CONFIRMED', 'DELIVERIES', 'LAST', 'PROBLEM'],
    rows: callbacks.map((callback) => [
      shortTime(callback.firstReceivedAt) ?? '',
      output.paint(callback.verdict.startsWith('valid') ? 'green' : 'red', callback.verdict),
      printable(callback.status ?? '-'),
      printable(`${callback.amount ?? '-'} ${callback.currency ?? ''}`.trim()),
      callback.confirmed === null ? '-' : callback.confirmed ? 'yes' : 'no',
      String(callback.deliveries),
      callback.deliveries > 1 ? (shortTime(callback.lastReceivedAt) ?? '') : '',
      printable(problemOf(callback)),
    ]),
  });
  const legend =
    'status, amount, type and order id are signed, the currency is not; confirmed: the newest status reply says the same';
  return `${table}  ${output.paint('dim', legend)}\n`;
}

/** Why a signature does not verify says more than that it does not. */
function problemOf({ problem, signatureCause: cause }: OrderTimeline['callbacks'][number]): string {
  if (!isSignatureCause(cause) || cause === 'not_examined') return problem;
  return [problem, causeInWords(cause)].filter((text) => text !== '').join('. ');
}

function drawPolls(output: Output, { polls, watch }: OrderTimeline): string {
  const outcomes = polls.outcomes.map(({ outcome, count }) => `${count} ${outcome}`).join(', ');
  const last =
    polls.last === null
      ? ''
      : `; last ${shortTime(polls.last.at) ?? ''}: ${polls.last.outcome}` +
        `${polls.last.errorType === '' ? '' : ` (${printable(polls.last.errorType)})`} in ${duration(polls.last.durationMs)}`;
  const requests = polls.count === 0 ? 'none made' : `${polls.count} (${outcomes})${last}`;
  const plan =
    watch === null
      ? 'not watched'
      : watch.nextPollAt === null
        ? `${watch.phase}, no more reads planned`
        : `${watch.phase}, next read ${shortTime(watch.nextPollAt) ?? ''}`;
  const label = (name: string) => output.paint('dim', name.padEnd(16));
  return `  ${label('status requests')} ${requests}\n  ${label('watch')} ${plan}\n`;
}

function drawOthers(others: readonly TimelineIdentity[]): string {
  if (others.length === 0) return '';
  const lines = others.map(
    (other) =>
      `    --gateway ${printable(other.gateway)} --type ${other.orderType}` +
      (other.externalId === null ? '' : ` (${printable(other.externalId)})`),
  );
  return `  The id fits other orders as well:\n${lines.join('\n')}\n`;
}

/** `2026-11-21 10:15:30.250`. */
function shortTime(time: string | null): string | null {
  return time === null ? null : `${time.slice(0, 10)} ${time.slice(11, 23)}`;
}

/** Milliseconds as people say it: `250 ms`, `9.75 s`, `3 min 5 s`, `2 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toFixed(ms < 10 ? 3 : 0))} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

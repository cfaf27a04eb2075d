import type { VerdictSummary } from '../../operate/verify/verify-orders.ts';
import type { CascadeAnswer, KnownEvidence, SafetyVerdict } from '../../schemas/cascade-safety.ts';
import { duration } from './draw-timeline.ts';
import { printable, type Output } from './host.ts';
import { drawTable } from './table.ts';

const COLOURS = { safe: 'green', unsafe: 'red', unknown: 'yellow' } as const;

/** What to do, for whoever was woken up. */
const TO_DO: Readonly<Record<SafetyVerdict, string>> = {
  safe: 'it may be sent to another provider.',
  unsafe: 'do NOT send it to another provider.',
  unknown: 'do NOT send it to another provider yet; ask again.',
};

/** One answer: the verdict, why, and the evidence. Times are UTC. */
export function drawAnswer(output: Output, answer: CascadeAnswer): string {
  const { verdict, order, reason, section, caveats, since, known } = answer;
  const id = printable(order.externalId ?? order.externalTransactionId ?? '');
  const head = `${verdictCell(output, verdict)}  ${order.orderType} ${id} at ${printable(order.gateway)}: ${TO_DO[verdict]}`;
  const facts: readonly (readonly [string, string | null])[] = [
    ['reason', `${reason} (interface, section ${section})`],
    ['failed', since === null ? null : shortTime(since)],
    ...caveats.map(({ says }) => ['note', says] as const),
    ['merchant id', order.externalId === null ? null : printableOr(order.externalTransactionId)],
    ['known before', known === null ? 'could not be looked up' : knownText(known)],
    ['answered', shortTime(answer.answeredAt)],
    ['next', nextStep(answer)],
  ];
  const lines = facts.flatMap(([name, text]) =>
    text === null ? [] : [`  ${output.paint('dim', name.padEnd(13))} ${text}`],
  );
  return `${head}\n${lines.join('\n')}\n\n${drawRequests(output, answer)}`;
}

function drawRequests(output: Output, { requests }: CascadeAnswer): string {
  if (requests.length === 0) return '  The gateway was not asked in time.\n';
  return drawTable(output, {
    indent: '  ',
    rightAligned: new Set([3]),
    headers: ['STATUS REQUEST', 'ID', 'ASKED', 'TOOK', 'HTTP', 'OUTCOME', 'STATUS', 'HISTORY'],
    rows: requests.map((request) => [
      request.endpoint,
      printable(request.id),
      request.askedAt === null ? '-' : request.askedAt.slice(11, 23),
      request.durationMs === null ? '-' : duration(request.durationMs),
      request.httpStatus === null ? '-' : String(request.httpStatus),
      request.outcome === 'ok' ? 'ok' : printable([request.outcome, request.errorType].join(' ').trim()),
      printable(request.orderStatus ?? '-'),
      historyText(request),
    ]),
  });
}

function historyText({ historyItems, decidingItem }: CascadeAnswer['requests'][number]): string {
  if (historyItems === null) return '-';
  const decides =
    decidingItem === null
      ? 'none final'
      : `${printable(decidingItem.action)} ${decidingItem.description ?? ''}`.trim();
  return `${historyItems} ${historyItems === 1 ? 'item' : 'items'}, ${decides}`;
}

function knownText(known: KnownEvidence): string {
  const { status, lastReplyAt, successItemAt, callback, successCallbackAt, phase } = known;
  const at = (time: string | null): string => (time === null ? '' : ` at ${shortTime(time)}`);
  const parts = [
    status === null
      ? null
      : `status ${printable(status)}${lastReplyAt === null ? '' : `, read${at(lastReplyAt)}`}`,
    successItemAt === null ? null : `a success in the history${at(successItemAt)}`,
    successCallbackAt === null ? null : `a valid callback said Success${at(successCallbackAt)}`,
    callback === null || successCallbackAt !== null
      ? null
      : `the last valid callback said ${printable(callback.status ?? '-')}${at(callback.receivedAt)}`,
    phase === null ? null : `watch ${phase}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'nothing' : parts.join('; ');
}

/** What helps with the usual reasons for not knowing. */
function nextStep({ rule, requests, order }: CascadeAnswer): string | null {
  const isOnlyNotFound = requests.length === 1 && requests[0]?.outcome === 'not_found';
  if (isOnlyNotFound && requests[0]?.endpoint.endsWith('-status') === true)
    return `if the id is the merchant's own: gatewatch verify ${printable(requests[0].id)} --by transaction-id`;
  if (requests.some(({ errorType }) => errorType === 'circuit_open'))
    return `the gateway refuses our token or address: gatewatch doctor`;
  if (rule === 'not_looked_up') return 'see why the store does not answer: gatewatch doctor';
  if (rule === 'ids_disagree') return `see both: gatewatch order ${printable(order.externalId ?? '')}`;
  return null;
}

/** Many answers, the worst first, and a summary. */
export function drawAnswers(
  output: Output,
  answers: readonly CascadeAnswer[],
  summary: readonly VerdictSummary[],
): string {
  const rank: Readonly<Record<SafetyVerdict, number>> = { unsafe: 0, unknown: 1, safe: 2 };
  const table = drawTable(output, {
    headers: ['VERDICT', 'ORDER', 'TYPE', 'GATEWAY', 'AMOUNT', 'WHY'],
    rightAligned: new Set([4]),
    rows: answers
      .toSorted((a, b) => rank[a.verdict] - rank[b.verdict])
      .map(({ verdict, order, known, rule, requests }) => [
        verdictCell(output, verdict),
        printable(order.externalId ?? order.externalTransactionId ?? ''),
        order.orderType,
        printable(order.gateway),
        printable(`${known?.amount ?? '-'} ${known?.currency ?? ''}`.trim()),
        [rule, requests.find(({ errorType }) => errorType !== '')?.errorType ?? ''].join(' ').trim(),
      ]),
  });
  return `${table}\n${summary.map((one) => summaryLine(output, one)).join('\n')}\n`;
}

function summaryLine(output: Output, { verdict, orders, amounts, withoutAmount }: VerdictSummary): string {
  const sums = amounts.map(({ currency, amount }) => `${amount} ${printable(currency)}`.trim());
  const rest = withoutAmount === 0 ? [] : [`${withoutAmount} without amount`];
  const count = `${orders} ${orders === 1 ? 'order' : 'orders'}`;
  return `${verdictCell(output, verdict)}  ${count}: ${[...sums, ...rest].join(', ')}`;
}

const verdictCell = (output: Output, verdict: SafetyVerdict): string =>
  output.paint(COLOURS[verdict], verdict.toUpperCase().padEnd('UNKNOWN'.length));

const printableOr = (text: string | null): string | null => (text === null ? null : printable(text));

/** `2026-11-21 10:15:30.250`. */
const shortTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 23)}`;

import { FINDING_TIMES, type FindingKind, type FindingSide } from '../../schemas/findings.ts';
import { STUCK } from '../../schemas/limits.ts';
import type { EpochMicros } from '../../schemas/rows.ts';
import { sqlList, sqlText } from '../../schemas/measures.ts';
import { instant } from './sweep-scope.ts';
import { CONFIRMED_FROM, isReversed, LAST_STATE_AT } from '../count/order-facts.ts';

/**
 * When the facts of one order (`order-facts.ts`) are a contradiction, kind by kind, as SQL. Nothing here
 * reads a clock but `judged_at`, up to when our picture of the gateway is complete: the same facts give the
 * same finding, whoever judges them and however often.
 */
export interface Judgement {
  readonly kind: FindingKind;
  /** SQL of the condition. */
  readonly when: string;
  /** SQL of texts. */
  readonly subject: string;
  readonly side: string;
  readonly expected: string;
  readonly received: string;
  /** SQL of an instant. */
  readonly foundAt: string;
  /** SQL of an instant, 1970 for not yet. */
  readonly resolvedAt: string;
  /** SQL of source, instant and text; those of 1970 are left out. */
  readonly evidence: readonly (readonly [source: string, at: string, what: string])[];
}

export interface JudgedTypes {
  /** The callback types that the gateway is to send, and does: without one its callbacks are not missed. */
  readonly callbackTypes: readonly ('Success' | 'Failed')[];
  /** When a collector first reported on the gateway, as far as reports are kept. */
  readonly watchedSince: EpochMicros;
}

const NEVER = `toDateTime64(0, 6, 'UTC')`;
const DAY_SECONDS = 86_400;
const after = (at: string, seconds: number): string => `${at} + INTERVAL ${seconds} SECOND`;
const late = (at: string): string => after(at, FINDING_TIMES.lateItemsSeconds);
const isKnown = (at: string): string => `${at} > ${NEVER}`;
/** It is due by now, and had not happened by then. */
const isOverdue = (at: string, due: string): string =>
  `${due} <= judged_at AND (NOT (${isKnown(at)}) OR ${at} > ${due})`;
const side = (name: FindingSide): string => sqlText(name);
const HISTORY_SAYS = `if(deciding.1 = '', 'no final item', deciding.1)`;
const DECIDING_ITEM = ['history', 'deciding.3', 'deciding.4'] as const;

type Column = readonly [name: string, sql: string];

/** Callbacks change places on their way: one of an earlier state does not take back what a final one says. */
const CALLBACKS_TO_FINAL = `arraySort(c -> (c.2 IN ('Success', 'Failed'), c.1), callbacks)`;

/**
 * SQL: have two callbacks the same signed fields and another body? Only final bodies that were sealed
 * alike have keys to compare (`bodyKey`).
 */
const hasOtherBody = (o: string, c: string): string =>
  `${o}.2 = ${c}.2 AND ${o}.4 = ${c}.4 AND ${c}.7.1 != 0 AND ${o}.7.1 = ${c}.7.1 AND ${o}.7.2 != ${c}.7.2`;

/** The claims of a source that name a fact: where it stands in them, and when it is named. */
const CLAIMS = [
  ['replied_amount', 'replies', '3', '? IS NOT NULL'],
  ['watched_amount', 'watches', '3', '? IS NOT NULL'],
  ['callback_amount', CALLBACKS_TO_FINAL, '3', '? IS NOT NULL'],
  ['replied_currency', 'replies', '4', "? != ''"],
  ['watched_currency', 'watches', '4', "? != ''"],
  ['callback_currency', CALLBACKS_TO_FINAL, '5', "? != ''"],
] as const;

/**
 * Columns that the kinds read; each may read those before it. All stand in one SELECT: with one subquery for
 * each step, planning the statement took twice as long.
 */
export const COLUMNS_OF_KINDS: readonly Column[] = [
  ['state', `if(paid_last_at > failed_last_at, 'SUCCESS', 'FAILED')`],
  ['answered_at', `arrayFirst(c -> c.2 = deciding.1, callbacks).1`],
  ['doubted_at', `if(deciding.1 = 'Success', paid_doubted_at, failed_doubted_at)`],
  ['paid_callback_at', `arrayFirst(c -> c.2 = 'Success', callbacks).1`],
  ['failed_callback_at', `arrayFirst(c -> c.2 = 'Failed', callbacks).1`],
  // What replies said when the deciding item became known, and the first that differs after that.
  ['known_reply', `arrayLast(r -> r.1 <= deciding.2, replies)`],
  ['later_reply', `arrayFirst(r -> r.1 > deciding.2 AND ${differs('r.2')}, replies)`],
  ...CLAIMS.map(([name, claims, field, isNamed]): Column => [
    name,
    `arrayLast(c -> ${isNamed.replace('?', `c.${field}`)}, ${claims}).${field}`,
  ]),
  [
    'conflict',
    `arrayFirst(c -> arrayExists(o -> o.1 <= c.1 AND ${hasOtherBody('o', 'c')}, callbacks), callbacks)`,
  ],
  ['decided_at', LAST_STATE_AT],
  [
    'differing',
    `if(${isKnown('known_reply.1')} AND ${differs('known_reply.2')}, (deciding.2, known_reply.2), (later_reply.1, later_reply.2))`,
  ],
  // When the newest of a source's claims was first made.
  ...CLAIMS.map(([name, claims, field]): Column => [
    `${name}_at`,
    `arrayFirst(c -> ifNull(c.${field} = ${name}, 0), ${claims}).1`,
  ]),
  ['conflicts_with', `arrayFirst(o -> ${hasOtherBody('o', 'conflict')}, callbacks)`],
  ['confirmed_seen', `arrayMin(c -> c.2, arrayFilter(c -> c.1 >= ${CONFIRMED_FROM}, confirmations))`],
  ['agreed_at', `arrayFirst(r -> r.1 > differing.1 AND NOT (${differs('r.2')}), replies).1`],
];

/** Is it another status than that of the history? A history without a final item stands for no final one. */
function differs(status: string): string {
  return `if(deciding.1 = '', ${status} IN ('Success', 'Failed'), ${status} NOT IN ('', deciding.1))`;
}

/** Does a callback count that an order of this gateway lacks? */
function isOurs({ callbackTypes, watchedSince }: JudgedTypes): string {
  const isExpected = `has(CAST([${sqlList(callbackTypes)}], 'Array(String)'), deciding.1)`;
  // What was decided before a collector first watched the gateway, or a day before it was known, as from a
  // backfill, is of a time when nobody took callbacks.
  return `${isKnown('decided_at')} AND decided_at >= ${instant(watchedSince)} AND decided_seen <= ${after('decided_at', DAY_SECONDS)} AND ${isExpected}`;
}

/** The kinds that follow from an order's facts, for one gateway. */
export const judgements = (types: JudgedTypes): readonly Judgement[] => {
  return [
    {
      kind: 'CALLBACK_MISSING',
      when: `${isOurs(types)} AND ${isOverdue('answered_at', late('decided_at'))}`,
      subject: 'deciding.1',
      side: `if(${isKnown('confirmed_seen')}, ${side('merchant')}, ${side('gateway')})`,
      expected: `concat('callback ', deciding.1)`,
      received: `multiIf(${isKnown('doubted_at')}, 'one that does not verify', ${isKnown('confirmed_seen')}, 'none, sent according to the history', 'none')`,
      foundAt: late('decided_at'),
      resolvedAt: 'answered_at',
      evidence: [
        DECIDING_ITEM,
        ['history', 'confirmed_seen', `'merchant callback (stage 6) known'`],
        ['callback', 'doubted_at', `concat(deciding.1, ', does not verify')`],
        ['callback', 'answered_at', 'deciding.1'],
      ],
    },
    {
      kind: 'CALLBACK_WITHOUT_HISTORY',
      when: `${isOurs(types)} AND ${isKnown('answered_at')} AND ${isOverdue('confirmed_seen', late('greatest(decided_at, answered_at)'))}`,
      subject: 'deciding.1',
      side: side('gateway'),
      expected: `'merchant callback (stage 6)'`,
      received: `'no such item'`,
      foundAt: late('greatest(decided_at, answered_at)'),
      resolvedAt: 'confirmed_seen',
      evidence: [
        DECIDING_ITEM,
        ['callback', 'answered_at', 'deciding.1'],
        ['history', 'confirmed_seen', `'merchant callback (stage 6) known'`],
      ],
    },
    {
      kind: 'STATUS_DISAGREES',
      when: `items > 0 AND (deciding.1 != '' OR NOT foreign) AND ${isKnown('differing.1')} AND ${isOverdue('agreed_at', late('differing.1'))}`,
      subject: `'reply'`,
      side: side('gateway'),
      expected: HISTORY_SAYS,
      received: 'differing.2',
      foundAt: late('differing.1'),
      resolvedAt: 'agreed_at',
      evidence: [DECIDING_ITEM, ['reply', 'differing.1', 'differing.2']],
    },
    callbackStatus('Success', 'paid_callback_at', 'paid_seen'),
    callbackStatus('Failed', 'failed_callback_at', 'failed_seen'),
    amount('callback', 'gateway', 'callback', `ifNull(replied_amount, watched_amount)`),
    amount('watch', 'merchant', 'watched', 'replied_amount'),
    currency(
      'callback',
      'stranger',
      'callback',
      `if(replied_currency != '', replied_currency, watched_currency)`,
    ),
    currency('watch', 'merchant', 'watched', 'replied_currency'),
    {
      kind: 'SUCCESS_AFTER_FAILED',
      when: isReversed('failed_first_at', 'paid_last_at'),
      subject: `''`,
      side: side('gateway'),
      expected: `'Failed'`,
      received: `'Success'`,
      foundAt: 'greatest(paid_seen, failed_seen)',
      resolvedAt: NEVER,
      evidence: [
        ['history', 'failed_first_at', `'FAILED'`],
        ['history', 'paid_last_at', `'SUCCESS'`],
      ],
    },
    {
      kind: 'STUCK_PROCESSING',
      when: `${isKnown('began_at')} AND ${isOverdue('decided_first_at', after('began_at', STUCK.afterSeconds))}`,
      subject: `''`,
      side: side('provider'),
      expected: `'a final status'`,
      received: `'processing'`,
      foundAt: after('began_at', STUCK.afterSeconds),
      resolvedAt: 'decided_seen',
      evidence: [['history', 'began_at', `'in processing'`], DECIDING_ITEM],
    },
    {
      kind: 'SIGNATURE_CONFLICT',
      // A changed amount has a callback of its own type, with the signed fields of the one about the status.
      when: `${isKnown('conflict.1')} AND NOT repriced`,
      subject: `concat(conflict.2, ' ', conflict.4)`,
      side: side('stranger'),
      expected: content('conflicts_with'),
      received: content('conflict'),
      foundAt: 'conflict.1',
      resolvedAt: NEVER,
      evidence: [
        ['callback', 'conflicts_with.1', said('conflicts_with')],
        ['callback', 'conflict.1', said('conflict')],
      ],
    },
  ];
};

function said(callback: string): string {
  return `concatWithSeparator(' ', ${callback}.2, ${callback}.4, ${callback}.5)`;
}

/** The beginning of `content_hash` in the view `callbacks`. */
function content(callback: string): string {
  return `concat('content ', lower(hex(reinterpretAsFixedString(${callback}.6))))`;
}

/** A final callback whose status no item of the history has. */
function callbackStatus(status: 'Success' | 'Failed', callbackAt: string, seenAt: string): Judgement {
  return {
    kind: 'STATUS_DISAGREES',
    when: `items > 0 AND NOT foreign AND ${isKnown(callbackAt)} AND ${isOverdue(seenAt, late(callbackAt))}`,
    subject: sqlText(`callback ${status}`),
    side: side('gateway'),
    expected: HISTORY_SAYS,
    received: sqlText(status),
    foundAt: late(callbackAt),
    resolvedAt: seenAt,
    evidence: [DECIDING_ITEM, ['callback', callbackAt, sqlText(status)]],
  };
}

/** A fact that one source names and another one names otherwise. */
function claim(
  kind: FindingKind,
  subject: string,
  who: FindingSide,
  received: string,
  expected: string,
  text: (sql: string) => string,
  name: string,
): Judgement {
  const bothAt = `greatest(${received}_at, if(${isKnown(`replied_${name}_at`)}, replied_${name}_at, watched_${name}_at))`;
  return {
    kind,
    when: `${isKnown(`${received}_at`)} AND ifNull(${expected} != ${received}, 0) AND ${text(expected)} != '' AND ${late(bothAt)} <= judged_at`,
    subject: sqlText(subject),
    side: side(who),
    expected: text(expected),
    received: text(received),
    foundAt: late(bothAt),
    resolvedAt: NEVER,
    evidence: [
      ['reply', `replied_${name}_at`, text(`replied_${name}`)],
      ['watch', `watched_${name}_at`, text(`watched_${name}`)],
      ['callback', `callback_${name}_at`, text(`callback_${name}`)],
    ],
  };
}

/** Whoever reads an item with reason 35 knows that the amount was changed. */
function amount(subject: string, who: FindingSide, source: string, expected: string): Judgement {
  const text = (sql: string): string => `ifNull(toString(${sql}), '')`;
  const one = claim('AMOUNT_DISAGREES', subject, who, `${source}_amount`, expected, text, 'amount');
  return { ...one, when: `NOT repriced AND ${one.when}` };
}

function currency(subject: string, who: FindingSide, source: string, expected: string): Judgement {
  const text = (sql: string): string => sql;
  return claim('CURRENCY_DISAGREES', subject, who, `${source}_currency`, expected, text, 'currency');
}

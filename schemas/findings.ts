/**
 * Findings: contradictions between what is known of one order from its history (interface document, section
 * 2.4), from status replies (2.3), from the gateway's callbacks (6) and from the watch message.
 */

/** Where the fault of a finding most likely is. The words are those of the alert rules' sides. */
export const FINDING_SIDES = ['gateway', 'provider', 'merchant', 'stranger'] as const;
export type FindingSide = (typeof FINDING_SIDES)[number];

export interface FindingKindInfo {
  /** Continues "the order's ...", for tables and panels. */
  readonly label: string;
  /** The sides that findings of the kind can have, the usual one first. */
  readonly sides: readonly [FindingSide, ...FindingSide[]];
  /** What is compared, and when it is a contradiction. */
  readonly meaning: string;
}

/** The kinds, a closed set. The names stand in rows, settings and runbooks: append only. */
export const FINDING_KINDS = {
  CALLBACK_MISSING: {
    label: 'callback has not come',
    sides: ['gateway', 'merchant'],
    meaning:
      'An order was decided and the callback of that status has not come. With a merchant callback (stage 6) in the history it was sent and lost on the way to us (side merchant), without one it was not sent (side gateway). One that came and does not verify is named. Judged for the callback types Success and Failed where `callbackTypes` has them, at gateways that sent a callback within a week.',
  },
  CALLBACK_WITHOUT_HISTORY: {
    label: 'callback is not in the history',
    sides: ['gateway'],
    meaning: 'The callback came, and the history has no merchant callback (stage 6) for it.',
  },
  CALLBACK_FOR_UNKNOWN_ORDER: {
    label: 'callback is about an order that the gateway does not know',
    sides: ['gateway'],
    meaning: 'A callback that verifies names an order for which status requests are answered with 404.',
  },
  STATUS_DISAGREES: {
    label: 'status differs',
    sides: ['gateway'],
    meaning:
      "The status of replies (subject `reply`) is not that of the history's deciding item, or the history has no item of a final callback's status (subject `callback Success`, `callback Failed`).",
  },
  AMOUNT_DISAGREES: {
    label: 'amount differs',
    sides: ['gateway', 'merchant'],
    meaning:
      'The amount of the newest callback, of a final status where there is one (subject `callback`, side gateway), or of the watch message (subject `watch`, side merchant) is not that of the status reply, and the history has no item with reason 35 (AMOUNT_UPDATED).',
  },
  CURRENCY_DISAGREES: {
    label: 'currency differs',
    sides: ['stranger', 'merchant'],
    meaning:
      'The same for currencies. No signature covers the currency of a callback, so whoever passes it on can change it (subject `callback`, side stranger).',
  },
  HISTORY_REWRITTEN: {
    label: 'history has lost an item',
    sides: ['gateway'],
    meaning: 'An item of an earlier reply is not in a later one, or has another time or code there.',
  },
  SUCCESS_AFTER_FAILED: {
    label: 'success came after a failure',
    sides: ['gateway'],
    meaning: 'The history has an item of state SUCCESS later than one of state FAILED.',
  },
  STUCK_PROCESSING: {
    label: 'processing does not end',
    sides: ['provider'],
    meaning: 'The order entered processing and was not decided in time.',
  },
  SIGNATURE_CONFLICT: {
    label: 'callbacks have one signature and two bodies',
    sides: ['stranger'],
    meaning:
      'Two callbacks of a final status verify with the same signed fields and differ in what the signature does not cover: one of them was changed. Not of orders whose amount was changed (5.1.3.35), for which two callbacks come.',
  },
  REPLAYED: {
    label: 'callback came again, long after',
    sides: ['stranger'],
    meaning: 'A callback was delivered again though it had been taken long before.',
  },
  FIRST_SEEN_TRANSITION: {
    label: 'codes follow one another as never before',
    sides: ['gateway'],
    meaning:
      'A code follows another one for the first time at this gateway. Reported for the first order only, and not until the gateway has been watched for the time of learning.',
  },
} as const satisfies Record<string, FindingKindInfo>;
export type FindingKind = keyof typeof FINDING_KINDS;
export const FINDING_KIND_NAMES = Object.keys(FINDING_KINDS) as FindingKind[];

/** Times that the comparison gives the sources, in seconds. */
export const FINDING_TIMES = {
  /**
   * Until sources must agree. Items are appended for about ten minutes after a final status (interface
   * document, 2.4, rule 2), and a re-read that finds them follows half a minute later.
   */
  lateItemsSeconds: 900,
  /** From when on a 404 counts: a callback may outrun the gateway's own store. */
  unknownOrderSeconds: 60,
  /** From when on a callback that is delivered again is no retry. The gateway's retry policy is not shown. */
  replayedSeconds: 3_600,
  /** How long a gateway is watched before a move between codes can be a new one. */
  learningSeconds: 7 * 86_400,
} as const;

/** One row of the view `findings`; times as ISO 8601. */
export interface Finding {
  readonly gateway: string;
  readonly order_type: string;
  readonly external_id: string;
  readonly kind: FindingKind;
  readonly subject: string;
  readonly found_at: string;
  readonly side: FindingSide;
  readonly expected: string;
  readonly received: string;
  readonly evidence: readonly { readonly source: string; readonly at: string; readonly what: string }[];
  readonly resolved_at: string | null;
}

import { FINDING_KIND_NAMES, type FindingKind } from '../../../schemas/findings.ts';
import type { Expected } from './expected.ts';

/** A row of the view `findings`. */
export interface FoundRow {
  readonly external_id: string;
  readonly kind: FindingKind;
  readonly subject: string;
  readonly received: string;
  readonly evidence: string;
  readonly resolved: number;
}

export interface KindScore {
  readonly kind: FindingKind;
  readonly provoked: number;
  readonly found: number;
  readonly missed: number;
  readonly wronglyFound: number;
  /** Wrongly found, and over by the end. */
  readonly wronglyFoundAndResolved: number;
  readonly share: number;
  readonly examples: { readonly missed: readonly string[]; readonly wrong: readonly string[] };
}

const EXAMPLES = 5;

/** Lays the findings beside what there is to be found, kind by kind. */
export function compare(expected: Expected, rows: readonly FoundRow[]): KindScore[] {
  return FINDING_KIND_NAMES.map((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    return kind === 'FIRST_SEEN_TRANSITION'
      ? scoreMoves(expected, own)
      : scoreOrders(kind, expected.orders.get(kind) ?? new Set(), own);
  });
}

function scoreOrders(kind: FindingKind, orders: ReadonlySet<string>, rows: readonly FoundRow[]): KindScore {
  const open = new Set(rows.filter(({ resolved }) => resolved === 0).map(({ external_id }) => external_id));
  const missed = [...orders].filter((id) => !open.has(id));
  const wrong = rows.filter(({ external_id }) => !orders.has(external_id));
  return scored(kind, { provoked: orders.size, missed, wrong });
}

/** Each new move is reported once, of one of the orders that make it. */
function scoreMoves({ moves, unsure }: Expected, rows: readonly FoundRow[]): KindScore {
  const sure = [...moves.keys()].filter((move) => !unsure.has(move));
  const found = Map.groupBy(rows, ({ subject }) => subject);
  const missed = sure.filter((move) => !found.has(move));
  const wrong = [...found].flatMap(([move, own]) => {
    if (unsure.has(move)) return [];
    const makers = moves.get(move);
    const strangers = own.filter(({ external_id }) => makers?.has(external_id) !== true);
    return strangers.length > 0 ? strangers : own.slice(1);
  });
  return scored('FIRST_SEEN_TRANSITION', { provoked: sure.length, missed, wrong });
}

function scored(
  kind: FindingKind,
  { provoked, missed, wrong }: { provoked: number; missed: readonly string[]; wrong: readonly FoundRow[] },
): KindScore {
  const found = provoked - missed.length;
  return {
    kind,
    provoked,
    found,
    missed: missed.length,
    wronglyFound: wrong.filter(({ resolved }) => resolved === 0).length,
    wronglyFoundAndResolved: wrong.filter(({ resolved }) => resolved === 1).length,
    share: provoked === 0 ? 1 : found / provoked,
    examples: {
      missed: missed.slice(0, EXAMPLES),
      wrong: wrong
        .slice(0, EXAMPLES)
        .map((row) => `${row.external_id} ${row.subject} ${row.received} ${row.evidence}`),
    },
  };
}

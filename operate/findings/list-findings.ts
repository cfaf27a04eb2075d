import type { Finding, FindingKind, FindingSide } from '../../schemas/findings.ts';
import { view } from '../../schemas/measures.ts';
import type { Store } from '../../store/store.ts';

export interface FindingsFilter {
  /** Found in this many seconds before now. */
  readonly sinceSeconds: number;
  /** Only those that are not resolved. @default all */
  readonly open?: boolean;
  /** @default all */
  readonly gateway?: string;
  /** @default all */
  readonly kinds?: readonly FindingKind[];
  /** @default all */
  readonly side?: FindingSide;
  /** The id of one order, whenever its findings were found. @default all */
  readonly externalId?: string;
  /** The newest so many. */
  readonly limit: number;
}

export interface FoundFindings {
  /** Newest first. */
  readonly findings: readonly Finding[];
  /** How many there are, those beyond the limit as well. */
  readonly total: number;
  /** How many of these are not resolved. */
  readonly open: number;
}

/** What the view `findings` has that passes the filter. */
export async function listFindings(query: Store['query'], filter: FindingsFilter): Promise<FoundFindings> {
  const conditions = [
    filter.externalId === undefined
      ? 'found_at >= now64(6) - toIntervalSecond({since:UInt32})'
      : 'external_id = {id:String}',
    ...(filter.open === true ? ['resolved_at IS NULL'] : []),
    ...(filter.gateway === undefined ? [] : ['gateway = {gateway:String}']),
    ...(filter.kinds === undefined ? [] : ['has({kinds:Array(String)}, kind)']),
    ...(filter.side === undefined ? [] : ['side = {side:String}']),
  ].join(' AND ');
  const params = {
    since: filter.sinceSeconds,
    id: filter.externalId ?? '',
    gateway: filter.gateway ?? '',
    kinds: [...(filter.kinds ?? [])],
    side: filter.side ?? '',
    limit: filter.limit,
  };
  const from = `FROM ${view('findings')} WHERE ${conditions}`;
  const [counted] = await query<{ total: number; open: number }>(
    `SELECT count() AS total, countIf(resolved_at IS NULL) AS open ${from}`,
    params,
  );
  const findings = await query<Finding>(
    `SELECT gateway, order_type, external_id, kind, subject, ${iso('found_at')} AS found, side, expected, received,
      arrayMap(e -> CAST((e.source, ${iso('e.at')}, e.what), 'Tuple(source String, at String, what String)'), evidence) AS evidence, ${iso('resolved_at')} AS resolved
    ${from} ORDER BY found_at DESC, gateway, order_type, external_id, kind, subject LIMIT {limit:UInt32}`,
    params,
  );
  return {
    findings: findings.map(named),
    total: Number(counted?.total ?? 0),
    open: Number(counted?.open ?? 0),
  };
}

const iso = (time: string): string => `formatDateTime(${time}, '%FT%T.%fZ')`;

/** Columns of the answer that must not hide those of the view have other names. */
function named(row: Finding): Finding {
  const { found, resolved, ...rest } = row as Finding & { found: string; resolved: string | null };
  return { ...rest, found_at: found, resolved_at: resolved };
}

import { randomUUID } from 'node:crypto';
import { sqlText, view } from '../../schemas/measures.ts';
import type { Silence, SilenceKind, SilenceRequest } from '../../schemas/silence.ts';
import type { Store, TableResult } from '../../store/store.ts';
import { silenceOfRequest, silenceRow } from './request.ts';

type Query = (sql: string) => Promise<TableResult>;
type Row = TableResult['data'][number];

/** So long after its beginning an acknowledgement is still read: no alert is looked at for longer. */
const ACKNOWLEDGED_DAYS = 30;

/** The silences and acknowledgements that hold at an instant, the newest first. */
export async function readSilences(query: Query, nowMs: number): Promise<Silence[]> {
  const now = instant(nowMs);
  const { data } = await query(
    `${SELECT} WHERE created_at <= ${now} AND (ended_at IS NULL OR ended_at > ${now})
AND if(kind = 'silenced', until > ${now}, created_at > ${now} - INTERVAL ${ACKNOWLEDGED_DAYS} DAY)
ORDER BY created_at DESC LIMIT 1000`,
  );
  return data.map(toSilence);
}

/** Stores what is asked for. */
export async function addSilence(
  store: Pick<Store, 'insert'>,
  request: SilenceRequest,
  nowMs: number,
): Promise<Silence> {
  const silence = silenceOfRequest(request, randomUUID().slice(0, 13), nowMs);
  await store.insert('alertSilences', [silenceRow(silence, nowMs)]);
  return silence;
}

/** Takes it back; null when there is none of that id that holds. */
export async function endSilence(
  query: Query,
  store: Pick<Store, 'insert'>,
  id: string,
  nowMs: number,
): Promise<Silence | null> {
  const silence = (await readSilences(query, nowMs)).find((one) => one.id === id);
  if (silence === undefined) return null;
  await store.insert('alertSilences', [silenceRow(silence, nowMs, nowMs)]);
  return silence;
}

/** The gateways that rules have judged of late, or that a start has written settings for. */
export async function knownGateways(query: Query): Promise<string[]> {
  const { data } = await query(
    `SELECT DISTINCT toString(gateway) AS name FROM ${view('alertSettings')} WHERE gateway != ${sqlText('')} ORDER BY name`,
  );
  return data.map((row) => String(row['name']));
}

const SELECT = `SELECT silence_id, toString(kind) AS silence_kind, toString(rule) AS rule, toString(gateway) AS gateway,
  toString(slice) AS slice, toString(label) AS label, toUnixTimestamp64Milli(created_at) AS created_ms,
  toUnixTimestamp64Milli(until) AS until_ms, reason, created_by
FROM ${view('alertSilences')}`;

const toSilence = (row: Row): Silence => ({
  id: String(row['silence_id']),
  kind: String(row['silence_kind']) as SilenceKind,
  rule: String(row['rule']),
  gateway: String(row['gateway']),
  slice: String(row['slice']),
  label: String(row['label']),
  createdAt: Number(row['created_ms']),
  until: row['until_ms'] === null ? null : Number(row['until_ms']),
  reason: String(row['reason']),
  by: String(row['created_by']),
});

const instant = (ms: number): string => `fromUnixTimestamp64Milli(${Math.floor(ms)})`;

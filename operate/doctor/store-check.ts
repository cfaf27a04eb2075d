import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VIEWS } from '../../schemas/names.ts';
import type { Store } from '../../store/store.ts';
import { Secret } from '../../schemas/secret.ts';
import {
  hasStore,
  openStore,
  schemaMigrator,
  type Login,
  type OpenedStore,
  type OpenOptions,
} from '../../store/open.ts';
import { sendSql } from '../../store/sql-request.ts';
import type { StoreConfig } from '../../schemas/config.ts';
import { CLOCK_SKEW } from '../../schemas/limits.ts';
import { fail, ok, warn, type Check, type Finding } from './check.ts';

/** Shows a person what is being waited for. */
export type Progress = NonNullable<OpenOptions['progress']>;

/** Does the store answer, is its schema the one we know, and can the reader read? */
export function storeCheck(config: StoreConfig, progress: Progress): Check {
  return {
    name: 'store',
    async run() {
      const isNew = config.clickhouse === undefined && !hasStore(config.dataDir);
      // Before the first run there is no folder to open: prove the engine in one that is thrown away.
      const folder = isNew ? await mkdtemp(join(tmpdir(), 'gatewatch-doctor-')) : null;
      try {
        const opened = await openStore(folder === null ? config : { ...config, dataDir: folder }, {
          embedded: 'create',
          progress,
        });
        try {
          return await examine(opened, config, isNew);
        } finally {
          await opened.close();
        }
      } catch (error) {
        return [fail('store', (error as Error).message, '')];
      } finally {
        if (folder !== null) await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

async function examine(opened: OpenedStore, config: StoreConfig, isNew: boolean): Promise<Finding[]> {
  const { store, kind } = opened;
  const where =
    kind === 'configured' ? `ClickHouse at ${new URL(opened.url).origin}` : `The embedded ClickHouse`;
  let version: string;
  try {
    version = (await store.queryText('SELECT version()', 'TSVRaw', {}, { database: 'system' })).trim();
  } catch (error) {
    const advice = 'Check clickhouse.url, username and password, and that the server runs.';
    return [fail('store', `${where} cannot be used: ${(error as Error).message}.`, advice)];
  }
  const state =
    kind === 'running' ? `, served at ${opened.url}` : kind === 'started' ? ', started for this check' : '';
  const answers = ok('store', `${where} answers: version ${version}${state}.`);
  const schema = isNew
    ? ok('store: schema', `${config.dataDir} is new: the first run makes the tables.`)
    : await schemaFinding(opened, config);
  const texts =
    isNew || schema.status !== 'ok'
      ? []
      : [
          await maskedFinding(store),
          ...(await cardLikeIdsFinding(store)),
          ...(await clockSkewFinding(store)),
        ];
  return [answers, schema, ...texts, ...(await readerFinding(opened)), ...sandboxFinding(opened)];
}

async function schemaFinding({ store }: OpenedStore, config: StoreConfig): Promise<Finding> {
  const check = 'store: schema';
  try {
    const plan = await schemaMigrator(store, config.retention).plan();
    if (plan.steps.length === 0) return ok(check, 'Up to date.');
    const titles = plan.steps.map((step) => step.title).join(', ');
    return warn(
      check,
      `To be done: ${titles}.`,
      "'gatewatch run' does it when it starts, 'gatewatch migrate' now.",
    );
  } catch (error) {
    return fail(check, `${(error as Error).message}.`, '');
  }
}

/** The embedded store's reader: what dashboards and `gatewatch sql` use. */
async function readerFinding(opened: OpenedStore): Promise<Finding[]> {
  if (opened.kind === 'configured') return [];
  const check = 'store: reader';
  const { url, reader } = opened;
  const ask = async (statement: string, login: Login): Promise<void> => {
    const request = { url, login, database: 'default', statement, format: 'TSV', settings: {} };
    for await (const _chunk of sendSql(request)) void _chunk;
  };
  const isRefused = (statement: string, login: Login): Promise<boolean> =>
    ask(statement, login).then(
      () => false,
      () => true,
    );
  try {
    await ask('SELECT 1', reader);
  } catch (error) {
    return [fail(check, `The reader cannot read: ${(error as Error).message}`, '')];
  }
  if (!(await isRefused('CREATE DATABASE gatewatch_doctor', reader))) {
    return [fail(check, `${reader.username} can write.`, 'This installation is broken: install it again.')];
  }
  const noPassword = { username: reader.username, password: new Secret('') };
  const needsPassword = await isRefused('SELECT 1', noPassword);
  const reads = `${reader.username} can read and cannot write`;
  return needsPassword
    ? [ok(check, `${reads}; its password is in the file reader.secret of the data folder.`)]
    : [
        warn(
          check,
          `${reads}, and needs no password: everybody on this machine can read all rows.`,
          "Set embedded.readerPassword to 'required' unless you are the only one here.",
        ),
      ];
}

/** What keeps a reader's statement away from the machine: the judging process and the sandbox. */
function sandboxFinding({ sandbox }: OpenedStore): Finding[] {
  if (sandbox === null) return [];
  const check = 'store: walls';
  const first = "Readers' statements are judged in a process of their own";
  if (sandbox !== '' && !sandbox.startsWith('none')) {
    const second = `the engine's process opens its own folders only and no connections (${sandbox})`;
    return [ok(check, `${first}; ${second}.`)];
  }
  const reason = sandbox.replace(/^none: /, '') || 'it was started by an earlier version';
  const advice = 'Run it under deploy/systemd/gatewatch.service or in the container, on Linux 5.13 or later.';
  return [
    warn(check, `${first}; no wall of the system stands around the engine's process: ${reason}.`, advice),
  ];
}

const MASKED_DAYS = 7;

/** Texts that were stored as fingerprints, by the field in which they came. */
const MASKED = `SELECT field, count() AS texts FROM (
  SELECT 'action' AS field FROM ${VIEWS.historyEvents}
  WHERE event_time > now() - INTERVAL ${MASKED_DAYS} DAY AND startsWith(action, '~')
  UNION ALL SELECT 'orderStatus' FROM ${VIEWS.orders}
  WHERE first_seen_at > now() - INTERVAL ${MASKED_DAYS} DAY AND startsWith(ifNull(status, ''), '~')
  UNION ALL SELECT 'callback status' FROM ${VIEWS.callbacks}
  WHERE last_received_at > now() - INTERVAL ${MASKED_DAYS} DAY AND startsWith(ifNull(status, ''), '~')
  UNION ALL SELECT 'callback externalId' FROM ${VIEWS.callbacks}
  WHERE last_received_at > now() - INTERVAL ${MASKED_DAYS} DAY AND startsWith(ifNull(external_id, ''), '~')
) GROUP BY field ORDER BY field`;

/**
 * Does a gateway send texts that are not what their fields are for: card numbers, names, or words we should
 * know?
 */
async function maskedFinding(store: Store): Promise<Finding> {
  const check = 'store: texts';
  const rows = await store.query<{ field: string; texts: number }>(MASKED);
  if (rows.length === 0) return ok(check, `No text of the last ${MASKED_DAYS} days had to be hidden.`);
  const fields = rows.map(({ field, texts }) => `${field} ${texts}`).join(', ');
  return warn(
    check,
    `Texts of the last ${MASKED_DAYS} days that fit no grammar were stored as fingerprints (~shape:length:hash): ${fields}.`,
    'Ask who sends them what they are: card data in such a field is an incident of theirs.',
  );
}

/** Ids of 13 to 19 digits that were hidden, though the gateway itself names its orders so. */
const CARD_LIKE_IDS = `SELECT gateway, uniqExact(id) AS ids FROM (
  SELECT toString(gateway) AS gateway, external_id AS id FROM ${VIEWS.callbacks}
  WHERE last_received_at > now() - INTERVAL ${MASKED_DAYS} DAY AND startsWith(toString(verdict), 'valid')
  UNION ALL SELECT toString(gateway), external_transaction_id FROM ${VIEWS.orders}
  WHERE first_seen_at > now() - INTERVAL ${MASKED_DAYS} DAY
) WHERE match(ifNull(id, ''), '^~9:1[3-9]:') GROUP BY gateway ORDER BY gateway`;

/** By chance a number of that length passes for a card's: then some of a gateway's orders are never read. */
export async function cardLikeIdsFinding(store: Store): Promise<Finding[]> {
  const rows = await store.query<{ gateway: string; ids: number }>(CARD_LIKE_IDS);
  return rows.map(({ gateway, ids }) =>
    warn(
      'store: ids',
      `Of gateway ${gateway}, ${ids} ${ids === 1 ? 'id' : 'ids'} of the last ${MASKED_DAYS} days ${ids === 1 ? 'has' : 'have'} 13 to 19 digits that pass for a card number: stored as fingerprints, and not asked for.`,
      'If it numbers its orders so, set cardLikeIds: keep for it; then signed callbacks and own requests are believed.',
    ),
  );
}

/** What a collector of the last minutes found when it compared new history with its own clock. */
const CLOCK_SKEWS = `SELECT gateway, argMax(clock_skew_seconds, reported_at) AS seconds FROM ${VIEWS.gatewayStatus}
WHERE reported_at > now() - INTERVAL 5 MINUTE AND isNotNull(clock_skew_seconds) GROUP BY gateway ORDER BY gateway`;

/** The clock of a gateway's server may be right where the times of its history are of another zone. */
export async function clockSkewFinding(store: Store): Promise<Finding[]> {
  const rows = await store.query<{ gateway: string; seconds: number }>(CLOCK_SKEWS);
  return rows.map(({ gateway, seconds }) => {
    const check = `gateway ${gateway}: history`;
    const off = Math.abs(seconds);
    if (off <= CLOCK_SKEW.aboveSeconds) return ok(check, 'Its newest items are dated as our clock says.');
    const much = off < 600 ? `${Math.round(off)} s` : `${(off / 3600).toFixed(1)} hours`;
    const text = `Its newest items are dated ${much} ${seconds > 0 ? 'ahead of' : 'behind'} our clock.`;
    return off > CLOCK_SKEW.blindAboveSeconds
      ? fail(check, text, 'Alert rules look past them. If the gateway sends local time, set historyTimeZone.')
      : warn(check, text, "Compare both clocks with a third, and inform the gateway's operator.");
  });
}

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../schemas/json.ts';
import type { Notice, SendFailure } from './notice.ts';

/** What one receiver knows, by gateway. */
export interface NoticeStore {
  load(): Map<string, Notice>;
  /** @throws whatever writing throws */
  save(notices: ReadonlyMap<string, Notice>): void;
}

export const NOTICES_FILE = 'webhook-notices.json';
/** What was sent of evaluations that are late: by a collector that knows of nothing else, too. */
export const LATE_NOTICES_FILE = 'webhook-late-notices.json';

/**
 * A file in the data folder, replaced in one step, so that a kill leaves the old one or the new one. A file
 * and not a table: pages matter most while the store is away. It belongs to one address, since another
 * receiver knows nothing yet.
 */
export function fileNotices(dataDir: string, url: string, name = NOTICES_FILE): NoticeStore {
  const file = join(dataDir, name);
  // The address can hold a secret in its path: only its hash is written.
  const address = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return {
    load() {
      // A damaged file counts as none: what fires is notified once more.
      const read = fileSchema.safeParse(parseJson(readText(file)));
      return new Map(read.success && read.data.address === address ? Object.entries(read.data.gateways) : []);
    },
    save(notices) {
      mkdirSync(dataDir, { recursive: true });
      const draft = `${file}.draft`;
      const gateways = Object.fromEntries([...notices].map(([name, notice]) => [name, storedNotice(notice)]));
      const text = JSON.stringify({ address, gateways }, null, 2);
      writeFileSync(draft, `${text}\n`, { mode: 0o600, flush: true });
      renameSync(draft, file);
    },
  };
}

const texts = z.record(z.string(), z.string());
const statusSchema = z.enum(['firing', 'resolved']);
const alertSchema = z.object({
  fingerprint: z.string(),
  status: statusSchema,
  labels: texts,
  annotations: texts,
  startsAt: z.coerce.date(),
  endsAt: z.coerce.date(),
  generatorUrl: z.string(),
  values: z.record(z.string(), z.number().nullable()),
});
/** A notice as the file has it. Its keys are older than the names in the code. */
const storedNoticeSchema = z.object({
  at: z.number(),
  heard: z.record(z.string(), statusSchema),
  open: z.array(alertSchema),
  trouble: z
    .object({
      kind: z.enum(['refused', 'failed']),
      status: z.number().nullable(),
      since: z.number(),
      at: z.number(),
      tries: z.number(),
      news: z.string(),
      alerts: z.array(z.string()),
    })
    .nullable(),
});
type StoredNotice = z.output<typeof storedNoticeSchema>;
const noticeSchema = storedNoticeSchema.transform(({ at, heard, open, trouble }): Notice => ({
  at,
  acceptedStatuses: heard,
  firingForReceiver: open,
  lastFailure: trouble === null ? null : failureFrom(trouble),
}));
const fileSchema = z.object({ address: z.string(), gateways: z.record(z.string(), noticeSchema) });

function failureFrom({ news, ...failure }: NonNullable<StoredNotice['trouble']>): SendFailure {
  return { ...failure, changesKey: news };
}

function storedNotice({ at, acceptedStatuses, firingForReceiver, lastFailure }: Notice): object {
  return { at, heard: acceptedStatuses, open: firingForReceiver, trouble: storedFailure(lastFailure) };
}

function storedFailure(failure: SendFailure | null): object | null {
  if (failure === null) return null;
  const { kind, status, since, at, tries, changesKey, alerts } = failure;
  return { kind, status, since, at, tries, news: changesKey, alerts };
}

/** @throws what reading throws, apart from a file that is not there */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

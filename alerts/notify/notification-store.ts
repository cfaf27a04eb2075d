import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../schemas/json.ts';
import type { NotificationState } from './notification.ts';

/** What one receiver knows, by gateway. */
export interface NotificationStore {
  load(): Map<string, NotificationState>;
  /** @throws whatever writing throws */
  save(states: ReadonlyMap<string, NotificationState>): void;
}

export const NOTIFICATIONS_FILE = 'webhook-notifications.json';
/** What was sent of evaluations that are late: by a collector that knows of nothing else, too. */
export const LATE_NOTIFICATIONS_FILE = 'webhook-late-notifications.json';

/**
 * A file in the data folder, replaced in one step, so that a kill leaves the old one or the new one. A file
 * and not a table: pages matter most while the store is away. It belongs to one address, since another
 * receiver knows nothing yet.
 */
export function fileNotifications(
  dataDir: string,
  url: string,
  name = NOTIFICATIONS_FILE,
): NotificationStore {
  const file = join(dataDir, name);
  // The address can hold a secret in its path: only its hash is written.
  const address = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return {
    load() {
      // A damaged file counts as none: what fires is notified once more.
      const read = fileSchema.safeParse(parseJson(readText(file)));
      return new Map(read.success && read.data.address === address ? Object.entries(read.data.gateways) : []);
    },
    save(states) {
      mkdirSync(dataDir, { recursive: true });
      const draft = `${file}.draft`;
      const text = JSON.stringify({ address, gateways: Object.fromEntries(states) }, null, 2);
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
const notificationSchema = z.object({
  at: z.number(),
  acceptedStatuses: z.record(z.string(), statusSchema),
  firingForReceiver: z.array(alertSchema),
  lastFailure: z
    .object({
      kind: z.enum(['refused', 'failed']),
      status: z.number().nullable(),
      since: z.number(),
      at: z.number(),
      tries: z.number(),
      changesKey: z.string(),
      alerts: z.array(z.string()),
    })
    .nullable(),
});
const fileSchema = z.object({ address: z.string(), gateways: z.record(z.string(), notificationSchema) });

/** @throws what reading throws, apart from a file that is not there */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

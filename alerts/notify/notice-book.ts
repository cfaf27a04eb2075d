import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Alert } from '../explain/alert.ts';

/** What a receiver knows of one gateway, and what it owes us an answer to. Times in epoch milliseconds. */
export interface Notice {
  /** When it last took something; 0 when it never did. */
  readonly at: number;
  /** What it was told last: status by fingerprint. */
  readonly heard: Readonly<Record<string, Alert['status']>>;
  /** What it takes for firing, as it was offered last: the ends of these are owed to it. */
  readonly open: readonly Alert[];
  /** What it did not take, and why; null when it took the last one. */
  readonly trouble: NoticeTrouble | null;
}

export interface NoticeTrouble {
  /** `refused`: the same again would be refused again. `failed`: the receiver was away or busy. */
  readonly kind: 'refused' | 'failed';
  /** Null: no answer. */
  readonly status: number | null;
  /** The first and the last attempt at these news. */
  readonly since: number;
  readonly at: number;
  readonly tries: number;
  /** The news that were not taken: fingerprints with their statuses. */
  readonly news: string;
  /** Names of the alerts among them, for whoever looks. */
  readonly alerts: readonly string[];
}

/** What one receiver was told, by gateway. */
export interface NoticeBook {
  load(): Map<string, Notice>;
  /** @throws whatever writing throws */
  save(notices: ReadonlyMap<string, Notice>): void;
}

export const NOTICES_FILE = 'webhook-notices.json';

/**
 * A book in the data folder, replaced in one step, so that a kill leaves the old one or the new one. A file
 * and not a table: pages matter most while the store is away. It belongs to one address, as another receiver
 * has heard nothing yet.
 */
export function fileNotices(dataDir: string, url: string): NoticeBook {
  const file = join(dataDir, NOTICES_FILE);
  // The address can hold a secret in its path: only its hash is written.
  const address = createHash('sha256').update(url).digest('hex').slice(0, 16);
  return {
    load() {
      const read = fileSchema.safeParse(parseJson(readText(file)));
      return new Map(read.success && read.data.address === address ? Object.entries(read.data.gateways) : []);
    },
    save(notices) {
      mkdirSync(dataDir, { recursive: true });
      const draft = `${file}.draft`;
      const text = JSON.stringify({ address, gateways: Object.fromEntries(notices) }, null, 2);
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
const noticeSchema = z.object({
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
const fileSchema = z.object({ address: z.string(), gateways: z.record(z.string(), noticeSchema) });

/** @throws what reading throws, apart from a file that is not there */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** A file that makes no sense is one that is not there: what fires is told once more. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

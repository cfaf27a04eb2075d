import { createClient } from '@clickhouse/client';
import { withEmbedded } from '../support/embedded.ts';
import { createMigrator } from '../../store/migrate.ts';
import { openDatabase } from '../support/migrated-store.ts';
import { loadDashboardRows } from './zz-load.ts';
import { existsSync, writeFileSync } from 'node:fs';
const dataDir = '/tmp/exp/data';
const fresh = !existsSync(dataDir);
const e = await withEmbedded({ dataDir, port: 38123 });
writeFileSync('/tmp/exp/info', JSON.stringify({ url: e.url, ...e.writer, pid: e.store.pid }));
process.on('SIGTERM', () => void e.stop().then(() => process.exit(0)));
if (fresh) {
  const store = await openDatabase(e, { database: 'gatewatch' });
  const writer = createClient({ url: e.url, ...e.writer, request_timeout: 600000, clickhouse_settings: { max_execution_time: 600 } });
  const endMs = Date.UTC(2026, 10, 22, 12, 0, 0);
  const t = Date.now();
  const r = await loadDashboardRows(writer, { rows: 7 * 60 * 2000 * 12, endMs, progress: (x) => console.log(x, Date.now() - t) });
  console.log(r);
}
console.log('ready');
setInterval(() => {}, 1000);

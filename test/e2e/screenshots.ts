import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { readerPassword } from '../support/collector-process.ts';
import { freePort } from '../support/kafka-process.ts';
import { findChromium, launchChromium, NO_CHROMIUM, openPage, panelsInSight } from './support/browser.ts';

/**
 * Pictures of the console while the demo's incident runs: `node test/e2e/screenshots.ts [--out docs/images]
 * [--all]`. Without --all only those that the documents show; with it every page, dark and light, wide and
 * narrow.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RANGE = 'from=now-5m&to=now&refresh=1m';
/** Of the documents, by the name of the file. */
const SHOWN = [
  { file: 'console-overview', name: 'overview', colorScheme: 'dark', width: 1440, height: 900 },
  { file: 'console-failures', name: 'failures', colorScheme: 'light', width: 1440, height: 900 },
  { file: 'console-order', name: 'order', colorScheme: 'dark', width: 1440, height: 900 },
] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 400, height: 900 },
] as const;
const NAMES = ['overview', 'failures', 'gateways', 'payform', 'order', 'pipeline'] as const;
const EVERY = SIZES.flatMap((size) =>
  (['dark', 'light'] as const).flatMap((colorScheme) =>
    NAMES.map((name) => ({ file: `${name}-${colorScheme}-${size.width}`, name, colorScheme, ...size })),
  ),
);
interface Picture {
  readonly file: string;
  readonly name: string;
  readonly colorScheme: 'dark' | 'light';
  readonly width: number;
  readonly height: number;
}

/** The demo on ports of its own, until `stop`. */
async function startDemo(folder: string) {
  const [port, storePort] = [await freePort(), await freePort()];
  const ports = ['--port', String(port), '--store-port', String(storePort)];
  const demo = spawn(process.execPath, [join(ROOT, 'sandbox/demo.ts'), '--data-dir', folder, ...ports], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => demo.once('exit', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    store: `http://127.0.0.1:${storePort}`,
    async stop() {
      demo.kill('SIGINT');
      await ended;
    },
  };
}

/** Waits until the incident shows in the alerts and has had time to fill a minute or two. */
async function untilItBurns(url: string): Promise<void> {
  for (let second = 0; second < 300; second += 2) {
    const shown = await fetch(`${url}/console/api/alerts`)
      .then(async (response) => (await response.json()) as { alerts: unknown[]; asOf: number | null })
      .catch(() => null);
    if (shown !== null && shown.asOf !== null && shown.alerts.length > 1 && second > 130) return;
    await sleep(2_000);
  }
  throw new Error('the incident did not show within five minutes');
}

/**
 * An order with a long path: created at the gateway, paid or declined later, with a callback signed
 * wrongly.
 */
async function exampleOrder(store: string, dataDir: string): Promise<string> {
  const sql = `SELECT external_id FROM gatewatch.history_events
    WHERE external_id IN (SELECT external_id FROM gatewatch.callbacks WHERE verdict = 'mismatch')
    GROUP BY external_id HAVING countIf(stage = 'CHECK' AND state = 'FAILED') > 0 AND count() > 6
    ORDER BY max(event_time) DESC LIMIT 1 FORMAT TSV`;
  const headers = { 'x-clickhouse-user': 'gatewatch_reader', 'x-clickhouse-key': readerPassword(dataDir) };
  const response = await fetch(store, { method: 'POST', headers, body: sql });
  return (await response.text()).trim();
}

async function take(browser: Browser, url: string, order: string, folder: string, picture: Picture) {
  const { page, problems } = await openPage(browser, picture);
  const chosen = picture.name === 'order' ? `&var-order_id=${encodeURIComponent(order)}` : '';
  await page.goto(`${url}/d/gatewatch-${picture.name}?${RANGE}${chosen}`);
  await panelsInSight(page);
  if (picture.name === 'order') {
    // The order fills its own picture.
    const fit = page.getByRole('button', { name: 'Zoom to the data' });
    if ((await fit.count()) > 0) await fit.first().click();
    await panelsInSight(page);
  }
  await page.screenshot({ path: join(folder, `${picture.file}.png`) });
  if (problems.length > 0) console.error(`${picture.file}: ${problems.join('; ')}`);
  await page.close();
}

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'docs/images') },
    all: { type: 'boolean', default: false },
  },
});
const chromium = findChromium();
if (chromium === null) throw new Error(NO_CHROMIUM);
mkdirSync(values.out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'gatewatch-screenshots-'));
const demo = await startDemo(join(folder, 'demo'));
const browser = await launchChromium(chromium);
try {
  await untilItBurns(demo.url);
  const order = await exampleOrder(demo.store, join(folder, 'demo'));
  for (const picture of values.all ? EVERY : SHOWN) await take(browser, demo.url, order, values.out, picture);
} finally {
  await browser.close();
  await demo.stop();
  rmSync(folder, { recursive: true, force: true });
}

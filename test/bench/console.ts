import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { DASHBOARDS } from '../../dashboards/uids.ts';
import { findChromium, launchChromium, NO_CHROMIUM, openPage } from '../e2e/support/browser.ts';
import { startLiveCollector } from '../e2e/support/live-collector.ts';

/**
 * How long the console's overview takes, from the address to the first row of panels, in a real browser on
 * the same machine: with nothing beside it, with a loop for every core, and with two of them.
 * `node test/bench/console.ts`.
 */

const ROUNDS = 5;

interface Shown {
  /** Milliseconds from the beginning of the navigation until no panel of the first row loads any more. */
  readonly firstRow: number;
  /** Until no panel in sight does. */
  readonly inSight: number;
}

/** What is asked of an element, in the page. */
interface PanelElement {
  getBoundingClientRect(): { readonly top: number };
  getAttribute(name: string): string | null;
}

const HEIGHT = 1000;
const LOOK_MS = 20;

async function open(browser: Browser, url: string): Promise<Shown> {
  const { page } = await openPage(browser, { height: HEIGHT });
  const start = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  let firstRow = 0;
  for (;;) {
    const panels = await page.locator('.panel').evaluateAll((elements: readonly PanelElement[]) =>
      elements.map((element) => ({
        top: element.getBoundingClientRect().top,
        isLoading: (element.getAttribute('data-state') ?? 'loading').includes('loading'),
      })),
    );
    const first = Math.min(...panels.map(({ top }) => top));
    const isShown = (within: number): boolean =>
      panels.every(({ top, isLoading }) => top > within || !isLoading);
    const now = performance.now() - start;
    if (panels.length > 0 && firstRow === 0 && isShown(first)) firstRow = now;
    if (panels.length > 0 && isShown(HEIGHT)) {
      await page.close();
      return { firstRow, inSight: now };
    }
    await sleep(LOOK_MS);
  }
}

function spin(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return () => loops.forEach((loop) => loop.kill('SIGKILL'));
}

async function main(): Promise<void> {
  const executable = findChromium();
  if (executable === null) throw new Error(NO_CHROMIUM);
  const live = await startLiveCollector();
  const browser = await launchChromium(executable);
  try {
    const cores = availableParallelism();
    await open(browser, `${live.url}/d/${DASHBOARDS.overview.uid}`);
    for (const loops of [0, cores, 2 * cores]) {
      const stop = spin(loops);
      const shown: Shown[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        shown.push(await open(browser, `${live.url}/d/${DASHBOARDS.overview.uid}`));
      stop();
      const list = (of: keyof Shown): string => shown.map((one) => (one[of] / 1000).toFixed(1)).join(', ');
      console.log(
        `${loops} loops on ${cores} cores: first row after ${list('firstRow')} s, all in sight ${list('inSight')} s`,
      );
    }
  } finally {
    await browser.close();
    await live.stop();
  }
}

if (import.meta.main) await main();

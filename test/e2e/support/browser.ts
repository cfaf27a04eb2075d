import { existsSync } from 'node:fs';
import { chromium, type Browser, type ConsoleMessage, type Page } from 'playwright-core';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** A Chromium of the system: `GATEWATCH_CHROMIUM`, or where packages put it; null when there is none. */
export function findChromium(): string | null {
  const wanted = process.env['GATEWATCH_CHROMIUM'];
  if (wanted !== undefined && wanted !== '') return wanted;
  return CANDIDATES.find((path) => existsSync(path)) ?? null;
}

export const NO_CHROMIUM = 'no Chromium: install it, or name it in GATEWATCH_CHROMIUM';

/** Starts it with a profile of its own, and without what would talk to the internet by itself. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the page, failed requests, and bodies of what it sent. */
  readonly problems: string[];
  readonly sent: string[];
}

export async function openPage(
  browser: Browser,
  options: { colorScheme?: 'dark' | 'light'; width?: number; height?: number } = {},
): Promise<WatchedPage> {
  const { colorScheme = 'dark', width = 1440, height = 3400 } = options;
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  const problems: string[] = [];
  const sent: string[] = [];
  page.on('console', (message: ConsoleMessage) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) sent.push(`${request.url()} ${request.postData() ?? ''}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  return { page, problems, sent };
}

/** Waits until the panels that a reader sees first show what they have. */
export async function panelsInSight(page: Page): Promise<void> {
  await page.locator('.panel').first().waitFor();
  const { height } = page.viewportSize() ?? { height: 0 };
  for (const panel of await page.locator('.panel').all()) {
    const box = await panel.boundingBox();
    if (box === null || box.y >= height) continue;
    const id = await panel.getAttribute('data-panel');
    await page
      .locator(`.panel[data-panel="${id}"]:not([data-state*="loading"])`)
      .waitFor({ timeout: 60_000 });
  }
}

/** Waits until every panel in sight shows what it has, and gives each panel's state by title. */
export async function settledPanels(page: Page): Promise<Record<string, string>> {
  await page.locator('.panel').first().waitFor();
  await page.locator('.panel[data-state*="loading"]').first().waitFor({ state: 'detached', timeout: 60_000 });
  return page.locator('.panel').evaluateAll((panels: readonly PanelElement[]) =>
    Object.fromEntries(
      panels.map((panel) => {
        const text = (selector: string): string | null | undefined =>
          panel.querySelector(selector)?.textContent;
        const problem = text('.panel-warning:not([hidden])');
        return [text('h3') ?? '', panel.dataset.state + (problem == null ? '' : `: ${problem}`)];
      }),
    ),
  );
}

/** What is asked of an element of the page; tests know no DOM. */
interface PanelElement {
  readonly dataset: { readonly state?: string };
  querySelector(selector: string): { readonly textContent: string | null } | null;
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RUNBOOK_DASHBOARD, runbookLinks } from '../../alerts/grafana/runbooks.ts';
import {
  findChromium,
  launchChromium,
  NO_CHROMIUM,
  openPage,
  panelsInSight,
  settledPanels,
} from './support/browser.ts';
import { startLiveCollector, type LiveCollector } from './support/live-collector.ts';

const chromium = findChromium();
const RANGE = 'from=now-15m&to=now';
/** Panels below it are not asked for: enough where a test looks at the top only. */
const SCREEN = { height: 900 };
/** Screenshots of every dashboard, to be looked at. */
const SHOTS = process.env['GATEWATCH_SCREENSHOTS'] ?? join(import.meta.dirname, '../../.cache/screenshots');

if (chromium === null) console.warn(`The console is not tested in a browser: ${NO_CHROMIUM}`);

describe.skipIf(chromium === null)(`the console in Chromium`, { timeout: 180_000 }, () => {
  let live: LiveCollector;
  let browser: Browser;
  beforeAll(async () => {
    mkdirSync(SHOTS, { recursive: true });
    [live, browser] = await Promise.all([startLiveCollector(), launchChromium(chromium ?? '')]);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await live?.stop();
  });

  const failedOrder = async (): Promise<string> => {
    const [row] = await live.collector.query<{ id: string }>(
      "SELECT external_id AS id FROM history_events WHERE action = '2.2.4.11' ORDER BY event_time LIMIT 1",
    );
    return row?.id ?? '';
  };

  it.each(['overview', 'failures', 'gateways', 'payform', 'order', 'pipeline'])(
    'draws every panel of %s without an error, dark and light, and asks no other machine',
    async (name) => {
      const { page, problems, sent } = await openPage(browser);
      const chosen = name === 'order' ? `&var-order_id=${await failedOrder()}` : '';
      await page.goto(`${live.url}/d/gatewatch-${name}?${RANGE}${chosen}`);
      const states = await settledPanels(page);
      expect(Object.keys(states).length).toBeGreaterThan(4);
      expect(Object.entries(states).filter(([, state]) => !/^(ready|empty)$/.test(state))).toEqual([]);
      // Empty is right only where nothing went wrong.
      const empty = Object.entries(states).filter(([, state]) => state === 'empty');
      expect(empty.length).toBeLessThan(Object.keys(states).length / 2);
      await page.screenshot({ path: join(SHOTS, `${name}-dark.png`) });
      // The page follows the system while nobody has chosen: the same figures, drawn again.
      await page.emulateMedia({ colorScheme: 'light' });
      await page.locator('html[data-theme=light]').waitFor();
      await page.screenshot({ path: join(SHOTS, `${name}-light.png`) });
      expect(await settledPanels(page)).toEqual(states);
      expect(problems).toEqual([]);
      expect(sent.filter((request) => !request.startsWith(live.url))).toEqual([]);
      expect(sent.filter((request) => /\bSELECT\b/i.test(request))).toEqual([]);
      await page.close();
    },
  );

  it(
    'opens at / on the overview, on a range that the data fills, and leads from the alert to its orders',
    { timeout: 240_000 },
    async () => {
      const { page, problems } = await openPage(browser, SCREEN);
      // A store that is busy keeps nobody waiting: the page then opens on its own range.
      const asBrowser = { maxRedirects: 0, headers: { accept: 'text/html' } };
      const home = async (): Promise<string> =>
        (await page.request.get(live.url, asBrowser)).headers()['location'] ?? '';
      await expect
        .poll(home, { timeout: 60_000, interval: 1_000 })
        .toMatch(/^\/d\/gatewatch-overview\?from=now-(5|15)m&to=now&refresh=5s$/);
      await page.goto(live.url);
      await page.waitForURL(/\/d\/gatewatch-overview/);
      await panelsInSight(page);
      const alerts = page.locator('.alert');
      // The rules are evaluated once a minute; the page refreshes itself.
      await alerts.filter({ hasText: 'GatewatchTechTimeouts' }).first().waitFor({ timeout: 120_000 });
      const success = page.locator('.panel', { hasText: 'Technical success' }).first();
      expect(Number.parseFloat((await success.locator('dd').first().textContent()) ?? '')).toBeLessThan(80);
      await page.getByRole('link', { name: 'Orders behind GatewatchTechTimeouts' }).first().click();
      await page.waitForURL(/\/d\/gatewatch-incident/);
      // Panels ask when they come into sight: all of them are.
      await page.setViewportSize({ width: 1440, height: 2_400 });
      // The heaviest question of all: a busy machine may need to ask it twice.
      const states = async (): Promise<string[]> =>
        Object.entries(await settledPanels(page)).flatMap(([title, state]) =>
          // A demo's incident may be everywhere alike: then it says so.
          title === 'What stands out' && state === 'empty' ? [] : [state],
        );
      const asked = async (): Promise<string[]> => {
        if ((await states()).some((state) => state.includes('TIMEOUT_EXCEEDED'))) await page.reload();
        return [...new Set(await states())];
      };
      await expect.poll(asked, { timeout: 90_000 }).toEqual(['ready']);
      await page.screenshot({ path: join(SHOTS, 'incident-dark.png') });
      const orders = page
        .locator('.panel')
        .filter({ has: page.getByRole('heading', { name: 'Orders of the page', exact: true }) });
      const range = new URL(page.url()).searchParams.get('from');
      const order = orders.locator('td a').first();
      const id = (await order.textContent()) ?? '';
      await order.click();
      await page.waitForURL(/\/d\/gatewatch-order/);
      const arrived = new URL(page.url()).searchParams;
      expect(arrived.get('from')).toBe(range);
      expect(arrived.get('var-gateway')).toBe('sandbox');
      expect(await page.locator('#var-order_id').inputValue()).toBe(id);
      expect(problems).toEqual([]);
      await page.close();
    },
  );

  it('leads from a failure count to the orders behind it, and to the timeline of one', async () => {
    const { page, problems } = await openPage(browser);
    await page.goto(`${live.url}/d/gatewatch-failures?${RANGE}`);
    await settledPanels(page);
    const cells = page
      .locator('.panel', { hasText: 'by stage and reason' })
      .locator('tbody tr', { hasText: 'TIMEOUT' });
    const counts = cells.first().locator('td a');
    const numbers = (await counts.allTextContents()).map((text) => Number(text) || 0);
    const busiest = numbers.indexOf(Math.max(...numbers));
    await counts.nth(busiest).click();
    await page.waitForURL(/var-reason=11/);
    expect(page.url()).toMatch(/from=now-15m&to=now/);
    await settledPanels(page);
    const orders = page
      .locator('.panel', { hasText: 'Affected orders' })
      .or(page.locator('.panel', { hasText: 'Orders with failures' }));
    const link = orders.locator('td a[href*="gatewatch-order"]').first();
    const id = (await link.textContent()) ?? '';
    await link.click();
    await page.waitForURL(/\/d\/gatewatch-order/);
    await settledPanels(page);
    expect(await page.locator('#var-order_id').inputValue()).toBe(id);
    const timeline = page.locator('.panel', { hasText: 'Timeline: every history item' });
    expect(await timeline.locator('tbody').textContent()).toContain('TIMEOUT');
    expect(await page.locator('.lane .segment').count()).toBeGreaterThan(1);
    expect(await page.locator('.span.failed').count()).toBeGreaterThan(0);
    await page.goBack();
    await page.waitForURL(/gatewatch-failures/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('shows a runbook that a page links to: headings, steps, and queries as they are written', async () => {
    const { page, problems, sent } = await openPage(browser, SCREEN);
    await page.goto(`${live.url}${runbookLinks()('GatewatchTechTimeouts')}`);
    const panel = page.getByRole('region', { name: 'GatewatchTechTimeouts, text' });
    await panel.waitFor();
    expect(await page.locator('.panel').count()).toBe(1);
    expect(await panel.getByRole('heading').allTextContents()).toContain('First three steps');
    expect(await panel.locator('ol > li').count()).toBe(3);
    expect(await panel.locator('pre').first().textContent()).toMatch(/^SELECT toStartOfMinute\(/);
    expect(await panel.textContent()).not.toMatch(/```|\*\*/);
    await page.screenshot({ path: join(SHOTS, 'runbook-dark.png') });
    expect(problems).toEqual([]);
    expect(sent.filter((request) => request.includes('/console/api/query'))).toEqual([]);
    await page.close();
  });

  it('shows all runbooks one below the other, without an error', async () => {
    const { page, problems } = await openPage(browser);
    await page.goto(`${live.url}/d/${RUNBOOK_DASHBOARD.uid}`);
    await panelsInSight(page);
    const names = await page.locator('.panel h3').allTextContents();
    expect(names).toContain('GatewatchUnknownCodes');
    for (const name of names) expect(name).toMatch(/^Gatewatch\w+$/);
    await page.screenshot({ path: join(SHOTS, 'runbooks-dark.png') });
    expect(problems).toEqual([]);
    await page.close();
  });

  it('never reads a text as HTML', async () => {
    const { page, problems } = await openPage(browser, SCREEN);
    const content = [
      '<img src=x onerror="document.title = 1"> <script>document.title = 2</script>',
      '[click](javascript:document.title=3) [there](//elsewhere.example/) [here](/d/gatewatch-overview)',
      '```\n</code><iframe src="/"></iframe>\n```',
    ].join('\n\n');
    const panel = {
      id: 1,
      type: 'text',
      title: 'Notes',
      gridPos: { x: 0, y: 0, w: 24, h: 8 },
      options: { mode: 'markdown', content },
    };
    await page.route('**/console/api/dashboards/gatewatch-runbooks', (route) =>
      route.fulfill({ json: { uid: 'gatewatch-runbooks', title: 'Texts', panels: [panel] } }),
    );
    await page.goto(`${live.url}/d/gatewatch-runbooks`);
    expect(await page.getByRole('region', { name: 'Notes, text' }).textContent()).toContain(
      '<script>document.title = 2</script>',
    );
    expect(await page.locator('.text-panel :is(img, script, iframe)').count()).toBe(0);
    expect(
      await page
        .locator('.text-panel a')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['/d/gatewatch-overview']);
    expect(await page.title()).toMatch(/Texts/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('narrows by a variable, by keyboard alone, and keeps the choice in the address', async () => {
    const { page, problems } = await openPage(browser, SCREEN);
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}`);
    await panelsInSight(page);
    const finished = page.locator('.panel', { hasText: 'Technical success' }).first().locator('dd').nth(1);
    const all = Number.parseFloat((await finished.textContent()) ?? '');
    const button = page.getByRole('button', { name: 'Channel: All' });
    await button.focus();
    await page.keyboard.press('Enter');
    const card = page.getByRole('checkbox', { name: 'p2p' });
    await card.focus();
    await page.keyboard.press('Space');
    await page.waitForURL(/var-channel=p2p/);
    await panelsInSight(page);
    expect(Number.parseFloat((await finished.textContent()) ?? '')).toBeLessThan(all);
    await page.reload();
    await page.getByRole('button', { name: 'Channel: p2p' }).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  it('chooses a time range: a quick one, one typed, and none that is none', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${live.url}/d/gatewatch-pipeline?${RANGE}`);
    const open = () => page.getByRole('button', { name: /^Time range/ }).click();
    await open();
    await page.getByRole('button', { name: 'Last 1 hour' }).click();
    await page.waitForURL(/from=now-1h&to=now/);
    await open();
    await page.getByLabel('From', { exact: true }).fill('now');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('This is no range').waitFor();
    await page.getByLabel('From', { exact: true }).fill('2026-01-01 00:00');
    await page.getByLabel('To', { exact: true }).fill('2026-01-02 00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/from=1767225600000&to=1767312000000/);
    const states = await settledPanels(page);
    expect(new Set(Object.values(states))).not.toContain('failed');
    await page.close();
  });

  it('says what a panel lacks, in the panel, when the store does not answer; and goes on when it does', async () => {
    const { page } = await openPage(browser, { height: 900 });
    const detail = 'The store does not answer at present.';
    await page.route('**/console/api/query', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({ detail }),
      }),
    );
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}`);
    await page.getByText(detail).first().waitFor();
    await page.unroute('**/console/api/query');
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await expect.poll(() => page.getByText(detail).count(), { timeout: 90_000 }).toBe(0);
    await page.close();
  });

  it('waits for answers that take longer than the refresh interval', async () => {
    const { page } = await openPage(browser, SCREEN);
    await page.clock.install();
    const asked: number[] = [];
    const released = Promise.withResolvers<void>();
    await page.route('**/console/api/query', async (route) => {
      asked.push((route.request().postDataJSON() as { panel: number }).panel);
      await released.promise;
      await route.continue();
    });
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}&refresh=5s`);
    await expect.poll(() => asked.length, { timeout: 60_000 }).toBeGreaterThan(3);
    await page.clock.fastForward(60_000);
    // What the page asked before this has been seen when it is answered.
    await page.evaluate("fetch('/console/api/dashboards')");
    expect(asked).toHaveLength(new Set(asked).size);
    // Once there are answers it goes on asking.
    released.resolve();
    await panelsInSight(page);
    const before = asked.length;
    await page.clock.fastForward(6_000);
    await expect.poll(() => asked.length, { timeout: 90_000 }).toBeGreaterThan(before);
    await page.close();
  });

  it('is legible to a screen reader: landmarks, names, and figures of plots as tables', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}`);
    await settledPanels(page);
    for (const role of ['banner', 'navigation', 'main', 'search'] as const)
      expect(await page.getByRole(role).count()).toBe(1);
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Gateway health']);
    expect(await page.getByRole('link', { name: 'Gateway health' }).getAttribute('aria-current')).toBe(
      'page',
    );
    const nameless = await page.evaluate(
      "[...document.querySelectorAll('button, a, input, select')].filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length || one.querySelector('img'))).map((one) => one.outerHTML)",
    );
    expect(nameless).toEqual([]);
    const plot = page.getByRole('img', { name: /^Orders with failures, by reason group\. .*TECH: last/ });
    await plot.focus();
    await page.keyboard.press('ArrowLeft');
    expect(
      await page
        .locator('[aria-live=polite]', { hasText: 'UTC' })
        .or(page.locator('[aria-live=polite]', { hasText: /\d\d:\d\d:\d\d:/ }))
        .count(),
    ).toBeGreaterThan(0);
    const panel = page.locator('.panel', { hasText: 'Orders with failures, by reason group' });
    await panel.getByRole('button', { name: 'Show as a table' }).click();
    expect(await panel.getByRole('columnheader').allTextContents()).toContain('TECH');
    await page.close();
  });

  it('changes its colours at a click and remembers it, and shows its keys', async () => {
    const { page, problems } = await openPage(browser, { ...SCREEN, colorScheme: 'light' });
    await page.goto(`${live.url}/d/gatewatch-payform?${RANGE}`);
    const theme = () => page.locator('html').getAttribute('data-theme');
    expect(await theme()).toBe('light');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    expect(await theme()).toBe('dark');
    await page.reload();
    expect(await theme()).toBe('dark');
    await panelsInSight(page);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    // Two keys that belong together within two seconds, which a busy machine may miss.
    const zoomedOut = async (): Promise<string> => {
      await page.keyboard.press('t');
      await page.keyboard.press('z');
      return page.url();
    };
    await expect.poll(zoomedOut, { timeout: 30_000, interval: 500 }).toMatch(/from=\d+&to=\d+/);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('leads from a single panel, as links do, to all of its dashboard', async () => {
    const { page, problems } = await openPage(browser, { width: 1440, height: 900 });
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}&viewPanel=panel-2997148`);
    await page.waitForSelector('.way-back');
    await page.screenshot({ path: join(SHOTS, 'one-panel.png') });
    expect(await page.locator('.panel').count()).toBe(1);
    await page.click('.way-back');
    await expect.poll(() => page.locator('.panel').count()).toBeGreaterThan(5);
    expect(page.url()).not.toContain('viewPanel');
    expect(problems).toEqual([]);
    await page.close();
  });

  it('fits a telephone: what fires first, single numbers in pairs, nothing wider than the screen', async () => {
    const { page } = await openPage(browser, { width: 390, height: 4000 });
    await page.goto(`${live.url}/d/gatewatch-overview?${RANGE}`);
    await panelsInSight(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const topOf = (kind: string) =>
      page.evaluate(
        `Math.min(...[...document.querySelectorAll('.panel-${kind}')].map((one) => one.getBoundingClientRect().top))`,
      ) as Promise<number>;
    expect(await topOf('alertlist')).toBeLessThan(await topOf('stat'));
    await page.screenshot({ path: join(SHOTS, 'overview-narrow.png') });
    await page.close();
  });
});

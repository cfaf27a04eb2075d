import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildPage } from '../../console/build-page.ts';
import { toPageFiles, type PageFiles } from '../../console/server/page-files.ts';
import type { AlertsAnswer, IncidentsAnswer } from '../../schemas/console.ts';
import { findChromium, launchChromium, openPage, type WatchedPage } from './support/browser.ts';

/** The page in a browser over answers that the test makes up: no collector, no store. */

const chromium = findChromium();
const ORIGIN = 'http://gatewatch.test';
const STEP_MS = 600_000;
const times = Array.from({ length: 6 }, (_, index) => Date.now() - 3_000_000 + index * STEP_MS);
const board = {
  uid: 'one',
  title: 'One',
  panels: [
    {
      id: 1,
      type: 'timeseries',
      title: 'Series',
      gridPos: { x: 0, y: 0, w: 12, h: 9 },
      targets: [{ refId: 'A', format: 1 }],
      options: {
        legend: { displayMode: 'table', placement: 'bottom', calcs: ['mean'] },
        tooltip: { mode: 'multi' },
      },
      fieldConfig: {
        defaults: { unit: 'short', links: [{ title: 'open', url: '/d/one?value=${__value.raw}' }] },
      },
    },
    {
      id: 2,
      type: 'text',
      title: 'Notes',
      gridPos: { x: 12, y: 0, w: 12, h: 9 },
      options: {
        mode: 'markdown',
        content:
          '# Notes\n\n- a\n  - b\n\n[x](javascript:alert(1)) [ok](/d/one) <b>no</b> ![i](https://evil.example/i.png)',
      },
    },
    { id: 3, type: 'alertlist', title: 'Alerts', gridPos: { x: 0, y: 9, w: 12, h: 9 } },
  ],
};
const frame = {
  refId: 'A',
  format: 1,
  columns: [
    { name: 'time', kind: 'time', values: times },
    { name: 'alpha', kind: 'number', values: [1, 2, 3, 2, 1, 2] },
    { name: 'beta', kind: 'number', values: [3, 1, 4, 1, 5, 9] },
  ],
};
const AS_OF = Date.UTC(2026, 10, 21, 10, 30);
const alert = (state: string, rule: string) => ({
  rule,
  severity: 'critical',
  summary: 'The gateway does not answer in time.',
  labels: { gateway: 'acme-eu' },
  state,
  since: AS_OF - 300_000,
  detail: '12 of 340 orders <b>.',
  numbers: null,
  panelUrl: '/d/one?panel',
  ordersUrl: state === 'Alerting' ? '/d/one?orders' : null,
  runbookUrl: '/d/gatewatch-runbooks?viewPanel=panel-1',
  explained:
    state === 'Alerting'
      ? {
          asOf: AS_OF,
          lines: ['channel <b>card</b>: 80 of 100 orders (80 %), the rest 0 of 100 (0 %)'],
          atRisk: '1,200.5 EUR',
          exampleUrl: '/d/two?order',
        }
      : null,
});
/** What the server says of the alerts and incidents, at the moment. */
let alertsAnswer: AlertsAnswer;
let incidentsAnswer: IncidentsAnswer;
/** What the page asked to hold back. */
let holds: unknown[];
const HELD = {
  id: 'silence-1',
  kind: 'silenced',
  rule: 'GatewatchTechTimeouts',
  gateway: 'acme-eu',
  slice: '',
  label: '',
  createdAt: AS_OF,
  until: AS_OF + 7_200_000,
  reason: 'the provider <b>mends</b> it',
  by: 'ann',
} as const;
/** An incident of one alert that fires, held back or not. */
const incident = (held: typeof HELD | null): IncidentsAnswer['incidents'][number] => ({
  id: 'acme-eu/2026-11-21T10:25:00Z',
  gateway: 'acme-eu',
  headline: 'The gateway does not answer in time.',
  severity: 'critical',
  sides: ['the provider behind it'],
  risks: [],
  beganAt: AS_OF - 420_000,
  noticedAt: AS_OF - 300_000,
  endedAt: null,
  affectedOrders: 12,
  notes: [],
  alerts: [
    {
      rule: 'GatewatchTechTimeouts',
      gateway: 'acme-eu',
      slice: '',
      label: '',
      severity: 'critical',
      side: 'provider',
      risk: '',
      summary: 'The gateway does not answer in time.',
      beganAt: AS_OF - 420_000,
      firedAt: AS_OF - 300_000,
      recoveringSince: null,
      endedAt: null,
      affectedOrders: 12,
      held,
    },
  ],
});
const ANSWERS: Readonly<Record<string, unknown>> = {
  '/console/api/dashboards': [{ uid: 'one', title: 'One', description: '', tags: [] }],
  '/console/api/dashboards/one': board,
  '/console/api/query': { frames: [frame], intervalMs: 60_000, error: null },
  '/console/api/variables': { options: {}, errors: {} },
  '/console/api/annotations': { annotations: [], errors: [] },
};

/** Answers for the server; a request to anywhere else fails, and is a problem of the page. */
async function serve(page: Page, { html, assets }: PageFiles): Promise<void> {
  await page.route('**/*', (route) => {
    const { origin, pathname } = new URL(route.request().url());
    if (origin !== ORIGIN) return route.abort();
    if (pathname.startsWith('/d/')) return route.fulfill({ contentType: 'text/html', body: html });
    const file = assets.get(pathname.replace(/^\/console\/assets\/\w+\//, ''));
    if (file !== undefined) return route.fulfill({ contentType: file.type, body: file.body });
    if (pathname === '/console/api/alerts') return route.fulfill({ json: alertsAnswer });
    if (pathname === '/console/api/incidents') return route.fulfill({ json: incidentsAnswer });
    if (pathname === '/console/api/silences') {
      holds.push(route.request().postDataJSON());
      return route.fulfill({ json: HELD });
    }
    return route.fulfill({ json: ANSWERS[pathname] });
  });
}

describe.skipIf(chromium === null)('the page over made-up answers', () => {
  let browser: Browser;
  let files: PageFiles;
  let watched: WatchedPage;
  beforeAll(async () => {
    files = toPageFiles(await buildPage());
    browser = await launchChromium(chromium ?? '');
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    alertsAnswer = { alerts: [], asOf: AS_OF, ageMs: 40_000, error: null, timeZone: 'UTC' };
    incidentsAnswer = { incidents: [], silences: [], asOf: AS_OF, timeZone: 'UTC', error: null };
    holds = [];
    watched = await openPage(browser, { height: 700 });
    await serve(watched.page, files);
    await watched.page.goto(`${ORIGIN}/d/one?from=now-1h&to=now`);
    await watched.page.locator('.panel[data-panel="1"][data-state=ready]').waitFor();
    return async () => {
      expect(watched.problems).toEqual([]);
      expect(watched.sent.filter((request) => !request.startsWith(ORIGIN))).toEqual([]);
      await watched.page.close();
    };
  });

  it('shows one series alone, switches another, and shows all again', async () => {
    const { page } = watched;
    const names = page.locator('.legend-name');
    const shown = (): Promise<string[]> => page.locator('.legend-name[aria-pressed=true]').allTextContents();
    expect(await shown()).toEqual(['alpha', 'beta']);
    await names.filter({ hasText: 'beta' }).click();
    expect(await shown()).toEqual(['beta']);
    await names.filter({ hasText: 'alpha' }).click({ modifiers: ['Control'] });
    expect(await shown()).toEqual(['alpha', 'beta']);
    await names.filter({ hasText: 'alpha' }).click();
    await names.filter({ hasText: 'alpha' }).click();
    expect(await shown()).toEqual(['alpha', 'beta']);
  });

  it('reads values by arrow keys and opens their links by Enter, until Escape', async () => {
    const { page } = watched;
    await page.getByRole('img', { name: /^Series\. / }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('[aria-live=polite]').textContent()).toMatch(
      / \d\d:\d\d:\d\d: beta 5, alpha 1$/,
    );
    await page.keyboard.press('Enter');
    const links = page.locator('.tooltip.pinned a');
    expect(await links.allTextContents()).toEqual(['open: beta', 'open: alpha']);
    expect(await links.first().evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.locator('.tooltip').count()).toBe(0);
  });

  it('pins the values under the pointer at a click', async () => {
    const { page } = watched;
    const box = await page.getByRole('img', { name: /^Series\. / }).boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
    await page.mouse.move(x, y);
    await page.locator('.tooltip:not(.pinned)', { hasText: 'beta4alpha3' }).waitFor();
    await page.mouse.click(x, y);
    await page.locator('.tooltip.pinned').waitFor();
    expect(await page.locator('.tooltip.pinned a').allTextContents()).toEqual(['open: beta', 'open: alpha']);
  });

  it('makes elements of Markdown, and text of whatever could do harm', async () => {
    const text = watched.page.locator('.text-panel');
    expect(await text.innerHTML()).toBe(
      '<ul><li>a<ul><li>b</li></ul></li></ul>' +
        '<p>[x](javascript:alert(1)) <a href="/d/one">ok</a> &lt;b&gt;no&lt;/b&gt; ![i](https://evil.example/i.png)</p>',
    );
  });

  /** The panel of alerts, once it shows that answer. */
  const alertsPanel = async (answer: Partial<AlertsAnswer>, text: string) => {
    alertsAnswer = { ...alertsAnswer, ...answer };
    await watched.page.reload();
    const panel = watched.page.locator('.panel[data-panel="3"]');
    await panel.scrollIntoViewIfNeeded();
    await panel.filter({ hasText: text }).waitFor();
    return panel;
  };

  it('marks alerts of which nobody is notified yet, and those that end', async () => {
    const alerts = [
      alert('Alerting', 'GatewatchTechTimeouts'),
      alert('Pending', 'GatewatchAuthzFailures'),
      alert('Recovering', 'GatewatchPictureBehind'),
    ];
    const panel = await alertsPanel({ alerts }, 'once a minute');
    expect(await panel.locator('.alert-state').allTextContents()).toEqual([
      'Firing since 10:25:00 UTC',
      'Pending since 10:25:00 UTC: nobody is notified yet',
      'Firing since 10:25:00 UTC: ending, the condition no longer holds',
    ]);
    expect(await panel.locator('.alert.waiting .alert-rule').getAttribute('href')).toBe('/d/one?panel');
    expect(await panel.locator('.alert-labels a', { hasText: 'Orders' }).count()).toBe(1);
    expect(await panel.locator('.alert-labels a', { hasText: 'Runbook' }).count()).toBe(3);
    expect(await panel.locator('.alert b').count()).toBe(0);
    // What explains it, as text, whatever a channel is called.
    expect(await panel.locator('.alert-explanation li').allTextContents()).toEqual([
      'channel <b>card</b>: 80 of 100 orders (80 %), the rest 0 of 100 (0 %)',
      'At risk: 1,200.5 EUR. The newest of them',
    ]);
    expect(await panel.locator('.alert-explanation a').getAttribute('href')).toBe('/d/two?order');
  });

  it("shows times by the reader's clocks beside UTC", async () => {
    const alerts = [alert('Alerting', 'GatewatchTechTimeouts')];
    const panel = await alertsPanel({ alerts, timeZone: 'Asia/Kolkata' }, 'once a minute');
    expect(await panel.locator('.alert-state').textContent()).toBe(
      'Firing since 10:25:00 UTC (15:55:00 Asia/Kolkata)',
    );
    expect(await panel.textContent()).toContain('Evaluated as of 10:30:00 UTC (16:00:00 Asia/Kolkata)');
  });

  it('says that nothing fires only while the rules are evaluated', async () => {
    await alertsPanel({}, 'Nothing fires.');
    const late = await alertsPanel({ ageMs: 600_000 }, 'No collector has evaluated the rules since');
    expect(await late.textContent()).not.toContain('Nothing fires');
    const never = await alertsPanel({ asOf: null, ageMs: null }, 'No collector has evaluated the rules yet');
    expect(await never.textContent()).not.toContain('Nothing fires');
  });

  it('silences an incident by its form, and shows by whom and why as text', async () => {
    incidentsAnswer = { ...incidentsAnswer, incidents: [incident(null)] };
    const alerts = [alert('Alerting', 'GatewatchTechTimeouts')];
    const panel = await alertsPanel({ alerts }, 'once a minute');
    await panel.getByRole('button', { name: 'Silence' }).click();
    const form = panel.locator('form');
    await form.getByLabel('For').selectOption('2h');
    await form.getByLabel('Reason').fill(HELD.reason);
    await form.getByLabel('Your name').fill('ann');
    incidentsAnswer = { ...incidentsAnswer, incidents: [incident(HELD)], silences: [HELD] };
    await form.getByRole('button', { name: 'Silence' }).click();
    await panel.getByText(/^Silenced until .*12:30.* by ann: the provider <b>mends<\/b> it$/).waitFor();
    expect(holds).toEqual([
      expect.objectContaining({
        kind: 'silenced',
        rule: 'GatewatchTechTimeouts',
        gateway: 'acme-eu',
        for: '2h',
        reason: HELD.reason,
        by: 'ann',
      }),
    ]);
    expect(await panel.locator('b').count()).toBe(0);
  });
});

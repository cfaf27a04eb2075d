import { beforeAll, describe, expect, it } from 'vitest';
import { HAS_ALERTMANAGER } from '../support/alertmanager.ts';
import { GATEWAY, GRAFANA_URL, livePage, pagesIn, type PageStory, RULE, RUNBOOK_URL } from '../page-story.ts';

describe.skipIf(!HAS_ALERTMANAGER)('a page, from the rows of an incident to whoever is paged', () => {
  let story: PageStory;
  // One incident for all tests: they only look at what it left behind.
  beforeAll(async () => {
    story = await livePage();
  });

  it('fires for the right labels, and says how bad it is', () => {
    const [page] = pagesIn(story.direct, 'firing');
    expect(page?.alert.labels).toEqual({
      alertname: RULE,
      gateway: GATEWAY,
      stage: 'GATEWAY_CREATE',
      severity: 'critical',
      side: 'provider',
      service: 'gatewatch',
    });
    const { annotations = {} } = page?.alert ?? {};
    expect(annotations['description']).toMatch(
      /^acme-eu GATEWAY_CREATE: (\d+) of (\d+) orders \([\d.]+%\) timed out .* (About \d+ are usual\. )?It fires from \d+ of \2 on\./,
    );
    expect(annotations['runbook_url']).toBe(`${RUNBOOK_URL}/GatewatchTechTimeouts.md`);
    expect(annotations['dashboard_url']?.startsWith(`${GRAFANA_URL}/d/`)).toBe(true);
    expect(page?.body.groupLabels).toEqual({ gateway: GATEWAY });
    expect(story.direct[0]).toMatchObject({ path: '/direct', authorization: 'Bearer webhook-token' });
  });

  it('reaches nobody while it is pending', () => {
    expect(story.whilePending).toEqual([]);
  });

  it('names the orders: running the query of the page gives its number', () => {
    const [page] = pagesIn(story.direct, 'firing');
    const [, affected] = /: (\d+) of/.exec(page?.alert.annotations['description'] ?? '') ?? [];
    expect(story.orders).toHaveLength(Number(affected));
    expect(story.orders.filter(({ external_id: id }) => !story.timedOut.has(id))).toEqual([]);
  });

  it('comes to Alertmanager as one incident of the gateway, and from there to the person on call', () => {
    const [group, ...others] = story.groups.filter(({ labels }) => labels['gateway'] === GATEWAY);
    expect(others).toEqual([]);
    expect(group).toMatchObject({
      receiver: 'gatewatch-oncall',
      alerts: ['GatewatchTechTimeouts', 'GatewatchTechnicalBurnFast'].toSorted(),
    });
    const [relay] = pagesIn(story.relayed, 'firing');
    expect(relay).toMatchObject({ path: '/gatewatch-oncall', body: { groupLabels: { gateway: GATEWAY } } });
    expect(relay?.alert.annotations['summary']).toBe('The gateway does not answer in time.');
  });

  it('comes as an e-mail that says all of it, with links', () => {
    const mail = story.mails.find(({ html }) => html.includes(RULE)) ?? expect.fail('nobody was mailed');
    const [page] = pagesIn(story.relayed, 'firing');
    expect(mail.to).toEqual(['payments@localhost']);
    expect(mail.subject).toMatch(/^FIRING \d: acme-eu /);
    for (const name of ['summary', 'description', 'side', 'steps'])
      expect(plain(mail.html)).toContain(page?.alert.annotations[name]);
    const links = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, url = '']) => plain(url));
    expect(links).toContain(`${RUNBOOK_URL}/${RULE}.md`);
    expect(links.some((url) => url.startsWith(`${GRAFANA_URL}/d/gatewatch-incident?`))).toBe(true);
  });

  it('is written down in alert_states, from its beginning to its end', () => {
    expect(story.whileFiring.map(({ labels }) => JSON.parse(labels))).toEqual([
      { gateway: GATEWAY, stage: 'GATEWAY_CREATE' },
    ]);
    expect(story.afterwards).toMatchObject([{ state: 'Normal', resolved_at: expect.any(String) }]);
  });

  it('is reported as over when it is, by both', () => {
    for (const pages of [story.direct, story.relayed]) {
      const [firing] = pagesIn(pages, 'firing');
      const [over] = pagesIn(pages, 'resolved');
      expect(over?.alert.labels).toEqual(firing?.alert.labels);
      expect(Date.parse(over?.alert.endsAt ?? '')).toBeGreaterThan(Date.parse(over?.alert.startsAt ?? ''));
    }
  });
});

/** HTML without its escapes. */
const plain = (html: string): string =>
  html.replaceAll('&#39;', "'").replaceAll('&#34;', '"').replaceAll('&#43;', '+').replaceAll('&amp;', '&');

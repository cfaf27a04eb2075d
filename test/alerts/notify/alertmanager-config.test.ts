import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { fillAddresses } from '../../../alerts/notify/alertmanager-config.ts';
import { ADDRESSES } from '../support/alertmanager-addresses.ts';

const SHIPPED = readFileSync(
  fileURLToPath(new URL('../../../alerts/out/alertmanager/alertmanager.yml', import.meta.url)),
  'utf8',
);
const problems = (env: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const filled = fillAddresses(SHIPPED, env);
  return 'problems' in filled ? filled.problems : [];
};

it('the shipped configuration names no address at all', () => {
  expect(SHIPPED).not.toMatch(/@|https?:\/\/|localhost|\.example\b|#\w/);
});

it('fills in the addresses of the environment, as the strings that they are', () => {
  const emails = 'a@shop.de, "quoted": #b@shop.de';
  const filled = fillAddresses('to: ${GATEWATCH_ALERT_EMAILS}', {
    GATEWATCH_ALERT_EMAILS: 'a@shop.de,b@shop.de',
  });
  expect('text' in filled && parse(filled.text)).toEqual({ to: 'a@shop.de,b@shop.de' });
  expect(problems({ ...ADDRESSES, GATEWATCH_ALERT_EMAILS: emails })).toHaveLength(1);
  expect(problems(ADDRESSES)).toEqual([]);
});

it('needs no address for the heartbeat, but a real one if there is one', () => {
  expect(problems({ ...ADDRESSES, GATEWATCH_HEARTBEAT_URL: '' })).toEqual([]);
  expect(problems({ ...ADDRESSES, GATEWATCH_HEARTBEAT_URL: 'https://watch.shop.de/1' })).toEqual([]);
  expect(problems({ ...ADDRESSES, GATEWATCH_HEARTBEAT_URL: 'https://watch.example/1' })).toHaveLength(1);
});

it('says all at once which addresses are missing', () => {
  expect(problems({})).toEqual(Object.keys(ADDRESSES).map((name) => `${name}: is not set`));
});

it.each([
  ['GATEWATCH_SMTP_SMARTHOST', 'mail.example:25', 'reserved'],
  ['GATEWATCH_SMTP_SMARTHOST', 'mail.shop.de', 'host:port'],
  ['GATEWATCH_SMTP_FROM', 'gatewatch@gatewatch.example', 'reserved'],
  ['GATEWATCH_ALERT_EMAILS', 'a@shop.de,b@example.com', 'reserved'],
  ['GATEWATCH_ALERT_EMAILS', 'somebody', 'e-mail'],
  ['GATEWATCH_ALERT_WEBHOOK_URL', 'https://tickets.invalid/hook', 'reserved'],
  ['GATEWATCH_ALERT_WEBHOOK_URL', '${GATEWATCH_ALERT_WEBHOOK_URL}', 'http'],
])('refuses a placeholder: %s=%s', (name, value, why) => {
  expect(problems({ ...ADDRESSES, [name]: value })).toEqual([expect.stringContaining(why)]);
});

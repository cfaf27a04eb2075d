import type { ServerResponse } from 'node:http';
import { signedCallback } from './gateway.ts';

/** Real-looking card numbers, each in another spelling, and secrets that occur nowhere else. */
export const CARD = '4539578763621486';
export const SPACED = '5412 7509 8364 1722';
export const DASHED = '6018-9352-7461-0850';
export const TOKEN = 'bearer-9f3a61c2d4';
export const KEY = 'private-key-7be01a55';
export const PREVIOUS_KEY = 'private-key-before-31c9';
const CARD_TOKEN = 'card-token-c40d8e';
const STORAGE_TOKEN = 'storage-token-5d2f90';
const HOLDER = 'ADA CANARY LOVELACE';
const FORBIDDEN = [CARD, SPACED, DASHED, TOKEN, KEY, PREVIOUS_KEY, CARD_TOKEN, STORAGE_TOKEN, HOLDER];
const PARAMS = {
  cardToken: CARD_TOKEN,
  cardStorageToken: STORAGE_TOKEN,
  cardHolder: HOLDER,
  cardNumber: CARD,
};
const ITEM = { time: '2026-11-21T10:15:30.250Z', action: '1.1.1.00' };

/** What the gateway says of each order: card data where it belongs, and everywhere else. */
export const REPLIES: Readonly<Record<string, string | ((response: ServerResponse) => void)>> = {
  good: reply('good', {}),
  'in-status': reply('in-status', { orderStatus: CARD }),
  'in-amount': reply('in-amount', { amount: Number(CARD) }),
  'in-amount-text': reply('in-amount-text', { amount: CARD }),
  'in-currency': reply('in-currency', { currency: CARD }),
  'in-action': reply('in-action', { orderHistory: [ITEM, { ...ITEM, action: `1.1.1.00 ${SPACED}` }] }),
  'in-time': reply('in-time', { orderHistory: [ITEM, { ...ITEM, time: DASHED }] }),
  'in-item': reply('in-item', { orderHistory: [ITEM, CARD, { card: CARD, holder: HOLDER }, [SPACED]] }),
  'in-id': reply(CARD, {}),
  'in-type': reply('in-type', { orderType: CARD }),
  'in-history': reply('in-history', { orderHistory: SPACED }),
  'in-broken-json': reply('in-broken-json', {}).slice(0, -20),
  'in-text': `card ${CARD} of ${HOLDER}, token ${STORAGE_TOKEN}`,
  'in-error': (response) => response.writeHead(500).end(`no card ${CARD}, Authorization: Bearer ${TOKEN}`),
  'in-header': (response) => response.writeHead(429, { 'retry-after': CARD, 'x-card': CARD }).end(),
  'in-redirect': (response) => response.writeHead(302, { location: `/?card=${CARD}&token=${TOKEN}` }).end(),
};

function reply(externalId: string, more: object): string {
  const order = {
    externalId,
    orderStatus: 'Processing',
    amount: 10,
    externalParams: PARAMS,
    orderHistory: [ITEM],
  };
  return JSON.stringify({ ...order, ...more, note: `${CARD} ${HOLDER}` });
}

/** Callbacks as a careless or a hostile sender writes them. */
export function hostileCallbacks(): { body: string; headers: Record<string, string> }[] {
  const signed = signedCallback({ externalId: 'good' }, KEY);
  const old = signedCallback({ externalId: 'good', status: 'Failed' }, PREVIOUS_KEY);
  const withParams = { ...(JSON.parse(signed.body) as object), externalParams: PARAMS, note: CARD };
  const inField = (field: string, text: string) => {
    const { body, signature } = signedCallback({ externalId: 'good', [field]: text }, KEY);
    return { body, headers: { Signature: signature } };
  };
  return [
    { body: JSON.stringify(withParams), headers: { Signature: signed.signature } },
    { body: old.body, headers: { Signature: old.signature } },
    { body: JSON.stringify(withParams).slice(0, -30), headers: { Signature: signed.signature } },
    { body: `${CARD} ${HOLDER} ${STORAGE_TOKEN}`, headers: {} },
    { body: signed.body, headers: { Signature: KEY } },
    { body: signed.body, headers: { Signature: CARD } },
    inField('status', CARD),
    inField('amount', CARD),
    inField('currency', CARD),
    inField('orderType', SPACED),
    { body: signedCallback({ externalId: CARD }, 'a guess').body, headers: { Signature: 'f'.repeat(64) } },
  ];
}

/** Which of the forbidden texts are in it, spaces and hyphens between digits aside. */
export function found(text: string, forbidden: readonly string[] = FORBIDDEN): string[] {
  const joined = text.replace(/(?<=\d)[ -](?=\d)/g, '');
  return forbidden.filter(
    (one) => text.includes(one) || joined.includes(one.replace(/(?<=\d)[ -](?=\d)/g, '')),
  );
}

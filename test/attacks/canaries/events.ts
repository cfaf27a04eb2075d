import { createHash } from 'node:crypto';
import { CARDS, DISGUISES, SECRETS } from './disguises.ts';

export const GATEWAY = 'acme';
const PARAMS = {
  cardToken: SECRETS.cardToken,
  cardStorageToken: SECRETS.storageToken,
  cardHolder: SECRETS.holder,
  cardNumber: CARDS[0],
};

/** The n-th canary: each card in each disguise in turn, and the holder's name. */
export function canary(n: number, forId = false): string {
  const card = CARDS[n % CARDS.length] ?? '';
  const usable = forId ? DISGUISES.filter(({ passesForId }) => passesForId !== true) : DISGUISES;
  const pick = Math.floor(n / CARDS.length) % (usable.length + 1);
  return usable[pick]?.write(card) ?? SECRETS.holder;
}

/**
 * What a person's text is searched for: digits with anything but letters between them. Names stay, and so
 * does a card number backwards, which is another number.
 */
const IN_NOTES = DISGUISES.filter(({ write }) => {
  const card = '4111111111111111';
  const text = write(card).normalize('NFKC');
  const isInOneRun = text.split(/\p{L}+/u).some((run) => run.replace(/\D/g, '').includes(card));
  return isInOneRun && !text.includes(SECRETS.holder);
});

/** A body of `POST /annotations`, a card in each of its fields in turn. */
export function note(n: number): string {
  const card = CARDS[n % CARDS.length] ?? '';
  const text = `${IN_NOTES[Math.floor(n / CARDS.length) % IN_NOTES.length]?.write(card)} <b>refund</b>`;
  const forms = [
    { title: text.slice(0, 200) },
    { title: 'refund', text },
    { title: 'refund', tags: [text.slice(0, 64)] },
    { title: 'refund', gateway: text.slice(0, 64) },
    { title: 'refund', gateway: GATEWAY, startsAt: text },
  ];
  return JSON.stringify(forms[n % forms.length]);
}

const ITEM = { time: new Date(Date.now() - 60_000).toISOString(), action: '1.1.1.00' };
const REPLY_FIELDS = [
  'orderStatus',
  'currency',
  'amount',
  'externalTransactionId',
  'orderType',
  'note',
] as const;

/** The gateway's answer about the order `o-<n>`. */
export function reply(n: number): { status: number; headers: Record<string, string>; body: string } {
  const text = canary(n);
  const order = {
    externalId: `o-${n}`,
    orderStatus: 'Success',
    amount: 10,
    externalParams: PARAMS,
    orderHistory: [ITEM],
  };
  const ok = (more: object) => ({ status: 200, headers: {}, body: JSON.stringify({ ...order, ...more }) });
  const forms = [
    ...REPLY_FIELDS.map((field) => () => ok({ [field]: canary(n, field === 'externalTransactionId') })),
    () => ok({ orderHistory: [ITEM, { ...ITEM, action: text }] }),
    () => ok({ orderHistory: [ITEM, { ...ITEM, time: text }, text, { card: text }, [text]] }),
    () => ok({ amount: Number(CARDS[n % CARDS.length]) }),
    () => ok({ externalId: canary(n, true) }),
    () => ({ ...ok({}), body: `\u{feff}${ok({ note: text }).body}` }),
    () => ({ ...ok({}), body: ok({ note: text }).body.slice(0, -9) }),
    () => ({ status: 500, headers: {}, body: `${text} Authorization: Bearer ${SECRETS.bearer}` }),
    () => ({ status: 429, headers: { 'retry-after': encodeURI(text) }, body: text }),
    () => ({ status: 302, headers: { location: `/?card=${encodeURIComponent(text)}` }, body: text }),
  ];
  return forms[n % forms.length]?.() ?? ok({});
}

export interface CallbackEvent {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** A callback as a careless or a hostile sender writes it; no two are equal. */
export function callback(n: number): CallbackEvent {
  const text = canary(n);
  const fields = {
    externalId: `o-${n % 500}`,
    status: 'Success',
    amount: '10.00',
    orderType: 'Deposit',
    currency: 'EUR',
  };
  const extra = { externalParams: PARAMS, note: `${n} ${text}` };
  const signed = (more: Partial<typeof fields>) => {
    const all = { ...fields, ...more };
    const base = [all.externalId, all.status, all.amount, all.orderType, SECRETS.key].join(';');
    const Signature = createHash('sha256').update(base).digest('hex');
    return { body: JSON.stringify({ ...all, ...extra }), headers: { Signature } };
  };
  const forms = [
    () => signed({}),
    () => signed({ status: text }),
    () => signed({ amount: text }),
    () => signed({ currency: text }),
    () => signed({ externalId: canary(n, true) }),
    () => signed({ orderType: text }),
    () => ({
      ...signed({ status: text, externalId: canary(n, true) }),
      headers: { Signature: 'f'.repeat(64) },
    }),
    () => ({ ...signed({}), headers: { Signature: encodeURI(text) } }),
    () => ({ ...signed({}), headers: { Signature: SECRETS.key } }),
    () => ({ body: signed({}).body.slice(0, -5), headers: {} }),
    () => ({ body: `${n} ${text} ${SECRETS.holder}`, headers: {} }),
    () => ({ body: JSON.stringify({ ...fields, externalId: text, status: [text], note: n }), headers: {} }),
  ];
  return forms[n % forms.length]?.() ?? signed({});
}

const WATCH_FIELDS = [
  'channel',
  'amount',
  'currency',
  'gateway',
  'orderType',
  'externalTransactionId',
  'note',
] as const;

/**
 * A message of the watch topic, or a body of `POST /orders`. Every seventh is taken as it is, with its canary
 * aside.
 */
export function watchMessage(n: number): string {
  const field = WATCH_FIELDS[n % WATCH_FIELDS.length] ?? 'note';
  if (n % 29 === 28) return `{"externalId":"${canary(n)}`;
  const text = canary(n, field === 'externalTransactionId');
  return JSON.stringify({ orderType: 'Deposit', externalId: `o-${n % 500}`, [field]: text });
}

/** Headers with which a foreign producer puts a callback onto Kafka. */
export function foreignHeaders(n: number): Record<string, string> {
  const text = canary(n, true);
  const forms = [{}, { 'delivery-id': text }, { gateway: text }, { 'body-sha256': text }, { 'x-card': text }];
  return forms[Math.floor(n / 12) % forms.length] ?? {};
}

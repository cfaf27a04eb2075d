import { CONTRADICTION_KINDS } from '../contradictions.ts';
import { FAULTS } from '../faults.ts';
import { SIGNING_NAMES } from '../signing.ts';
import { INCIDENTS } from '../scenarios.ts';

/** What `GET /admin` answers, and what `--help` prints of the admin API. */
export const ADMIN_GUIDE = {
  about:
    'The admin API of the sandbox gateway. Bodies are JSON. Only loopback may call it unless it was started with --admin-remote.',
  endpoints: {
    'GET /admin/stats':
      'orders by outcome, callbacks, requests by HTTP status, faults applied, history items visible',
    'POST /admin/rate': '{ratePerSecond}: orders a second that the sandbox creates by itself',
    'GET /admin/faults': 'active faults',
    'POST /admin/faults':
      '{name, probability=1, forSeconds?, endpoint?: create|status, orderType?, channel?, stage?: 1-6, delayMs?, signing?, retryAfterSeconds?, processed?}',
    'DELETE /admin/faults/{id}': 'ends one fault',
    'GET /admin/incidents': 'active incidents',
    'POST /admin/incidents':
      "{name, share, forSeconds?, channel?}: that share of the new orders goes the incident's way",
    'DELETE /admin/incidents/{id}': 'ends one incident',
    'GET /admin/contradictions': 'active contradictions, and how many orders each was drawn for',
    'POST /admin/contradictions':
      '{kind, share, delayMs?}: that share of the new orders contradicts itself, in all that is said of it',
    'DELETE /admin/contradictions/{id}': 'ends one contradiction',
    'POST /admin/withdrawals':
      '{amount?, currency?, externalTransactionId?, callbackUrl?}: a payout and its life',
    'POST /admin/orders':
      '{externalId?, externalTransactionId?, orderType?, channel?, amount?, currency?, status?, callbackUrl?, items?: [{action, time? | offsetMs?, visibleAfterMs?}]}: an order by hand, nothing happens by itself',
    'POST /admin/orders/{externalId}/items':
      '{action, time? | offsetMs?, visibleAfterMs?}: one more history item',
    'PUT /admin/orders/{externalId}/status': '{status?, amount?}',
    'POST /admin/orders/{externalId}/callbacks':
      '{status?, signature?: valid|wrong|missing|SIGNING, times?, url?}: sends a callback now',
    'GET /admin/orders':
      '?since=SEQUENCE|ISO time&limit=1000: every order with its final history, the future included, and its contradiction once that was carried out',
    'GET /admin/orders/{externalId}': 'one of them',
  },
  faults: Object.fromEntries(Object.entries(FAULTS).map(([name, { effect }]) => [name, effect])),
  contradictions: CONTRADICTION_KINDS,
  signings: SIGNING_NAMES,
  incidents: Object.fromEntries(Object.entries(INCIDENTS).map(([name, { shows }]) => [name, shows])),
} as const;

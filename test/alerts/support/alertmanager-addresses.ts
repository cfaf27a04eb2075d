/** Addresses that `alertmanager-config.ts` accepts; nothing listens there. */
export const ADDRESSES = {
  GATEWATCH_SMTP_SMARTHOST: '127.0.0.1:1025',
  GATEWATCH_SMTP_FROM: 'gatewatch@localhost',
  GATEWATCH_ALERT_EMAILS: 'payments@localhost',
  GATEWATCH_ALERT_WEBHOOK_URL: 'http://127.0.0.1:9/',
} as const;

import { z } from 'zod';
import { isDate, isTimeZone } from './local-time.ts';
import { Secret } from './secret.ts';

const secret = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));
const url = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'an http or https address',
    abort: true,
  })
  // It would be shown wherever the address is.
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'an address without user and password; those have settings of their own',
  })
  .transform((text) => text.replace(/\/+$/, ''));
const rate = z.number().min(0).max(1);

/** Ten years of public holidays: they are read, with all settings, once a minute. */
const MOST_HOLIDAYS = 150;
const timeZone = z.string().refine(isTimeZone, {
  error: 'a name of the IANA time zone database, as it is spelt there, such as Europe/Berlin',
});
const holidays = z
  .array(z.string().refine(isDate, { error: 'a date such as 2026-12-25' }))
  .max(MOST_HOLIDAYS)
  .superRefine((dates, context) => {
    for (const [index, date] of dates.entries())
      if (dates.indexOf(date) !== index)
        context.addIssue({ code: 'custom', path: [index], message: 'a date that is not listed before' });
  });

/** By which clocks those who read pages live, and when they do not work. */
export const calendarConfigSchema = z.object({
  /** Times are shown in it beside UTC; office hours, days and holidays are its. @default 'UTC' */
  timeZone: timeZone.default('UTC'),
  /** Days without the usual traffic and without office hours: `2026-12-25`. @default [] */
  holidays: holidays.default([]),
});
export type CalendarConfig = z.output<typeof calendarConfigSchema>;
export const UTC_WITHOUT_HOLIDAYS: CalendarConfig = calendarConfigSchema.parse({});

/**
 * What can be set of a rule, for all gateways or for one. What a kind of rule does not know has no effect on
 * it.
 */
const ruleSettings = {
  /** Judge it at all. @default as the rule has it */
  enabled: z.boolean().optional(),
  /** Shares: the limit, 0 to 1; of a baseline, what holds until it is known. */
  shareAbove: rate.optional(),
  /** Shares: fewer affected orders are no incident. */
  minimumAffectedOrders: z.int().positive().optional(),
  /** Drops: only below this part of what is expected. */
  below: rate.optional(),
  /** Drops: the rule judges from this many expected orders on. */
  minimumExpectedOrders: z.int().positive().optional(),
  /** Slow orders: from how many seconds on. @default what few orders usually exceed at the gateway */
  slowerThanSeconds: z.int().positive().optional(),
  /** Numbers: the limit. */
  above: z.number().optional(),
};

export const alertsConfigSchema = z.strictObject({
  /** Notify the targets of what fires. Rules are evaluated in any case. @default false */
  evaluate: z.boolean().default(false),
  /** Send alerts to an Alertmanager. */
  alertmanager: z
    .strictObject({
      url,
      /** Basic authentication. */
      username: z.string().optional(),
      password: secret.optional(),
      /** Bearer token, instead of user and password. */
      token: secret.optional(),
    })
    .optional(),
  /** Send alerts to an address, as JSON of the shape that Grafana's webhooks have. */
  webhook: z
    .strictObject({
      url,
      token: secret.optional(),
      /** Minutes after which an alert that still fires is sent again. @default 240 */
      repeatMinutes: z.number().positive().default(240),
      /** Posted to once a minute for as long as rules are evaluated: a dead man's switch. @default none */
      heartbeatUrl: url.optional(),
    })
    .optional(),
  /** Base address of Grafana, put before links. @default '' */
  externalUrl: z.union([z.literal(''), url]).default(''),
  ...calendarConfigSchema.shape,
  /**
   * Folder of runbooks that pages link to, e.g. in your own repository. @default those of the dashboards, at
   * externalUrl
   */
  runbookUrl: url.optional(),
  /** Rules by name. */
  rules: z
    .record(
      z.string(),
      z.strictObject({
        ...ruleSettings,
        /** By name of the gateway; wins over what stands beside it. */
        gateways: z.record(z.string(), z.strictObject(ruleSettings)).optional(),
      }),
    )
    .default({}),
});
export type AlertsConfig = z.output<typeof alertsConfigSchema>;

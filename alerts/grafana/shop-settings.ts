import { type CalendarConfig, calendarConfigSchema } from '../../schemas/config-alerts.ts';
import { expectation } from '../../schemas/problem.ts';

/** What is the shop's own in files for Grafana. */
export interface ShopSettings {
  /** Folder of runbooks that pages link to. @default the generated dashboard of runbooks */
  readonly runbookUrl?: string | undefined;
  /** @default UTC, without holidays */
  readonly calendar?: CalendarConfig;
}

/** What the environment says of the shop, or what is wrong with it. */
export function shopSettings(
  env: Readonly<Record<string, string | undefined>>,
): { readonly settings: ShopSettings } | { readonly problems: readonly string[] } {
  const { GATEWATCH_RUNBOOK_URL: runbookUrl, GATEWATCH_TIME_ZONE, GATEWATCH_HOLIDAYS = '' } = env;
  const input = {
    timeZone: GATEWATCH_TIME_ZONE === '' ? undefined : GATEWATCH_TIME_ZONE,
    holidays: GATEWATCH_HOLIDAYS.split(',').flatMap((date) => (date.trim() === '' ? [] : [date.trim()])),
  };
  const { data: calendar, error } = calendarConfigSchema.safeParse(input);
  if (calendar !== undefined) return { settings: { runbookUrl, calendar } };
  const problems = error.issues.map((issue) => {
    const [name, index] = issue.path;
    const [variable, value] =
      name === 'timeZone'
        ? ['GATEWATCH_TIME_ZONE', input.timeZone]
        : ['GATEWATCH_HOLIDAYS', index === undefined ? GATEWATCH_HOLIDAYS : input.holidays[Number(index)]];
    return `${variable}: expected ${expectation(issue)}, received ${JSON.stringify(value)}`;
  });
  return { problems };
}

import type { CalendarConfig } from '../../schemas/config-alerts.ts';

/** Name of the mute timing that routes refer to. */
export const OUTSIDE_OFFICE_HOURS = 'gatewatch-outside-office-hours';

/**
 * When nobody is at work, by the clocks of a zone, in the form that Alertmanager and Grafana share. Ranges
 * over midnight are two; holidays are days of a month.
 */
export function muteTimings({ timeZone, holidays }: CalendarConfig): readonly object[] {
  const intervals = [
    {
      times: [
        { start_time: '00:00', end_time: '07:00' },
        { start_time: '19:00', end_time: '24:00' },
      ],
      weekdays: ['monday:friday'],
    },
    { weekdays: ['saturday', 'sunday'] },
    ...[...Map.groupBy(holidays.toSorted(), (date) => date.slice(0, 7))].map(([month, dates]) => ({
      days_of_month: dates.map((date) => String(Number(date.slice(8)))),
      months: [String(Number(month.slice(5)))],
      years: [month.slice(0, 4)],
    })),
  ];
  return [
    {
      name: OUTSIDE_OFFICE_HOURS,
      time_intervals: intervals.map((interval) => ({ ...interval, location: timeZone })),
    },
  ];
}

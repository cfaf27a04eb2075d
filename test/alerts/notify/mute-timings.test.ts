import { expect, it } from 'vitest';
import { muteTimings } from '../../../alerts/notify/mute-timings.ts';

it("are outside office hours by the shop's clocks, and on its holidays", () => {
  const holidays = ['2027-01-01', '2026-12-26', '2026-12-25', '2027-12-25'];
  const location = 'Europe/Berlin';
  expect(muteTimings({ timeZone: location, holidays })).toEqual([
    {
      name: 'gatewatch-outside-office-hours',
      time_intervals: [
        {
          times: [
            { start_time: '00:00', end_time: '07:00' },
            { start_time: '19:00', end_time: '24:00' },
          ],
          weekdays: ['monday:friday'],
          location,
        },
        { weekdays: ['saturday', 'sunday'], location },
        { days_of_month: ['25', '26'], months: ['12'], years: ['2026'], location },
        { days_of_month: ['1'], months: ['1'], years: ['2027'], location },
        { days_of_month: ['25'], months: ['12'], years: ['2027'], location },
      ],
    },
  ]);
});

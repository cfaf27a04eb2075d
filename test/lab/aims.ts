import { BUSY, type Found, percent, share, type VolumeFigures } from './figures.ts';

/** What the rules are meant to reach, and what was measured at each volume. */
export interface Aim {
  readonly aim: string;
  readonly measured: readonly Measured[];
  readonly met: boolean;
}

interface Measured {
  readonly ordersPerMinute: number;
  /** Null: the aim says nothing of this volume, or there was nothing to measure. */
  readonly value: string | null;
  readonly met: boolean;
}

const NOTHING = { value: null, met: true } as const;

type Measure = (volume: VolumeFigures) => Pick<Measured, 'value' | 'met'>;

const part = (count: number, of: number, least: number): Pick<Measured, 'value' | 'met'> =>
  of === 0
    ? NOTHING
    : { value: `${count} of ${of}, ${percent(share(count, of))}`, met: share(count, of) >= least };

const within15 =
  (found: (volume: VolumeFigures) => Found, least: number): Measure =>
  (volume) =>
    part(found(volume).within15, found(volume).incidents, least);

const atMost =
  (pages: (volume: VolumeFigures) => number, most: number): Measure =>
  (volume) => ({ value: String(pages(volume)), met: pages(volume) <= most });

const MEASURES: Readonly<Record<string, Measure>> = {
  'severe incidents of the whole gateway are found: 100 %': ({ severe }) =>
    part(severe.detected, severe.incidents, 1),
  [`the median of them within 3 minutes, while at least ${BUSY} orders a minute come`]: ({
    severeWhileBusy: { medianToDetect: median },
  }) => (median === null ? NOTHING : { value: `${median} minutes`, met: median <= 3 }),
  [`severe incidents of a slice with a tenth of the traffic, while at least ${BUSY} come: 95 % within 15 minutes`]:
    within15(({ severeSlices }) => severeSlices, 0.95),
  [`medium incidents of the whole gateway, while at least ${BUSY} come: 98 % within 15 minutes`]: within15(
    ({ mediumWhileBusy }) => mediumWhileBusy,
    0.98,
  ),
  [`slow-downs to three times the usual, while at least ${BUSY} come: 95 % within 15 minutes`]: within15(
    ({ threeTimesSlower }) => threeTimesSlower,
    0.95,
  ),
  'the right slice is named, where one explains a severe or medium incident that was found: 95 %': ({
    named,
  }) => part(named.right, named.explained, 0.95),
  'critical pages that are false: at most 0.5 a month': atMost(
    ({ falsePagesPerMonth }) => falsePagesPerMonth.critical,
    0.5,
  ),
  'all pages that are false: at most 2 a month': atMost(
    ({ falsePagesPerMonth }) => falsePagesPerMonth.all,
    2,
  ),
};

export const aimsOf = (volumes: readonly VolumeFigures[]): Aim[] =>
  Object.entries(MEASURES).map(([aim, measure]) => {
    const measured = volumes.map((volume) => ({
      ordersPerMinute: volume.ordersPerMinute,
      ...measure(volume),
    }));
    return { aim, measured, met: measured.every(({ met }) => met) };
  });

/** The aims for a terminal. */
export const aimLines = (volumes: readonly VolumeFigures[]): string =>
  aimsOf(volumes)
    .map(({ aim, measured, met }) => {
      const values = measured.map(({ value }) => value ?? '-').join(' | ');
      return `${met ? 'met   ' : 'MISSED'}  ${aim}: ${values}`;
    })
    .join('\n');

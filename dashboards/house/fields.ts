import {
  type DynamicConfigValue,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { BAD, GOOD, QUIET, REASON_COLOURS, WARN } from './colours.ts';
import type { FieldLink } from './links.ts';

/** Limits of one quantity: which values are unusual, and which are bad. */
export type Limits = { readonly warnAbove?: number; readonly badAbove: number } | Below;
type Below = { readonly warnBelow: number; readonly badBelow: number };

/** Steps from the lowest value up. Grafana's first step has no value: it holds from minus infinity. */
export function thresholds(limits: Limits): ThresholdsConfigBuilder {
  const steps =
    'badAbove' in limits
      ? [
          step(null, GOOD),
          ...(limits.warnAbove === undefined ? [] : [step(limits.warnAbove, WARN)]),
          step(limits.badAbove, BAD),
        ]
      : [step(null, BAD), step(limits.badBelow, WARN), step(limits.warnBelow, GOOD)];
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps);
}

/** For quantities that cannot be judged by size: they are not good either. */
export const noThresholds = (): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([step(null, 'text')]);

const step = (value: number | null, color: string): { value: number | null; color: string } => ({
  value,
  color,
});

/** What a field override can set, by name; each property of Grafana is spelled here only. */
export interface FieldLook {
  readonly title?: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly colour?: string;
  readonly mappings?: readonly ValueMapping[];
  readonly width?: number;
  /** For figures that are texts, as exact amounts are. */
  readonly alignRight?: boolean;
  readonly limits?: Limits;
  readonly noLimits?: boolean;
  /** Shade the cell by its value. */
  readonly heat?: boolean;
  /** Shade the cell by its mapping's colour. */
  readonly cellColour?: boolean;
  /** Where a click on a value leads. */
  readonly links?: readonly FieldLink[];
  /** Text for an empty cell, where it means something. */
  readonly noValue?: string;
  /** Draw as faint bars on the right axis: the n beside a share. */
  readonly volumeBars?: boolean;
  /** Draw as a thin dashed line: a limit that changes with time. */
  readonly dashed?: boolean;
  /** Only in the tooltip, not in the legend: many such names would hide those that matter. */
  readonly notInLegend?: boolean;
}

export function look(field: FieldLook): DynamicConfigValue[] {
  const properties: DynamicConfigValue[] = [];
  const set = (id: string, value: unknown): void => void properties.push({ id, value });
  if (field.title !== undefined) set('displayName', field.title);
  if (field.unit !== undefined) set('unit', field.unit);
  if (field.decimals !== undefined) set('decimals', field.decimals);
  if (field.colour !== undefined) set('color', { mode: 'fixed', fixedColor: field.colour });
  if (field.mappings !== undefined) set('mappings', field.mappings);
  if (field.width !== undefined) set('custom.width', field.width);
  if (field.alignRight === true) set('custom.align', 'right');
  if (field.limits !== undefined) set('thresholds', thresholds(field.limits).build());
  if (field.noLimits === true) set('thresholds', noThresholds().build());
  if (field.links !== undefined) set('links', field.links);
  if (field.noValue !== undefined) set('noValue', field.noValue);
  if (field.heat === true) {
    set('custom.cellOptions', { type: 'color-background', mode: 'gradient' });
    // The scale begins at the panel's own colour, so that a zero is not shaded.
    set('color', { mode: 'continuous-reds' });
  }
  if (field.cellColour === true) set('custom.cellOptions', { type: 'color-text' });
  if (field.volumeBars === true) {
    set('custom.axisPlacement', 'right');
    set('custom.drawStyle', 'bars');
    // A bar covers the time that it counts.
    set('custom.barAlignment', 1);
    set('custom.fillOpacity', field.notInLegend === true ? 6 : 15);
    set('custom.lineWidth', 0);
    set('custom.thresholdsStyle', { mode: 'off' });
    set('min', 0);
    set('max', null);
  }
  if (field.dashed === true) {
    set('custom.lineStyle', { fill: 'dash', dash: [6, 4] });
    set('custom.lineWidth', 1);
    set('custom.fillOpacity', 0);
    set('custom.showPoints', 'never');
  }
  if (field.notInLegend === true) set('custom.hideFrom', { legend: true, tooltip: false, viz: false });
  return properties;
}

/** 0.05 -> `5 %`. */
export const percent = (share: number): string => `${Number((share * 100).toPrecision(6))} %`;
/** A series' label in its name. */
export const label = (name: string): string => `\${__field.labels.${name}}`;
/** For series whose names hold a reason's code as a word, like `orders 11 TIMEOUT`. */
export const coloursOfReasons = (): Record<string, FieldLook> =>
  Object.fromEntries(
    [...REASON_COLOURS].map(([code, colour]) => [`/ ${String(code).padStart(2, '0')} /`, { colour }]),
  );
/** The n beside a share: context, not judgement. */
export const volume = (title: string): FieldLook => ({
  title,
  unit: 'locale',
  decimals: 0,
  colour: QUIET,
  noLimits: true,
});
export const time = (title: string): FieldLook => ({ title, unit: 'dateTimeAsIso', width: 165 });

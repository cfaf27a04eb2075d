import { classicColour, colourByName, scaleColour, toCss, type Theme } from './colours.ts';
import type { Field } from './fields.ts';
import { mapValue } from './mappings.ts';
import type { FieldConfig, Thresholds } from './types.ts';
import { formatNumber, isoTime, isTimeUnit, type Formatted } from './units.ts';

/** A value as it is shown: text and colour (CSS). */
export interface Shown extends Formatted {
  readonly colour: string;
  /** Did a mapping or a threshold choose the colour? */
  readonly coloured: boolean;
}

/** Numbers of a field, holes left out. */
export const numbersOf = (field: Field): number[] =>
  field.values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));

/**
 * Shows a value by its field's unit, mappings, thresholds and colour mode.
 * @param index of the field among the panel's series: the classic palette goes by it
 */
export function display(field: Field, value: unknown, theme: Theme, index = 0): Shown {
  const mapped = mapValue(field.config.mappings, value);
  const own = ownColour(field, value, theme, index);
  const colour = mapped?.color === undefined ? own.colour : toCss(mapped.color, theme);
  const coloured = mapped?.color !== undefined || own.coloured;
  if (mapped?.text !== undefined && mapped.text !== '')
    return { text: mapped.text, suffix: '', colour, coloured };
  return { ...formatValue(field, value), colour, coloured };
}

export function formatValue({ config, kind }: Field, value: unknown): Formatted {
  if (value === null || value === undefined || Number.isNaN(value))
    return { text: config.noValue ?? '–', suffix: '' };
  if (typeof value === 'number') {
    if (kind === 'time' && !isTimeUnit(config.unit)) return { text: isoTime(value), suffix: '' };
    return formatNumber(value, config.unit, config.decimals ?? null);
  }
  if (typeof value === 'object') return { text: JSON.stringify(value), suffix: '' };
  return { text: String(value as string | boolean), suffix: '' };
}

/** Colour of the field as a whole: its line, its entry in a legend. */
export function seriesColour(field: Field, theme: Theme, index: number): string {
  const { mode, fixedColor } = field.config.color ?? { mode: 'palette-classic' };
  if (mode === 'fixed') return toCss(fixedColor ?? 'green', theme);
  if (mode === 'shades') return toCss(fixedColor ?? 'green', theme);
  if (mode === 'palette-classic-by-name') return toCss(colourByName(field.title), theme);
  if (mode === 'thresholds' || mode.startsWith('continuous')) {
    const last = numbersOf(field).at(-1);
    return ownColour(field, last ?? null, theme, index).colour;
  }
  return toCss(classicColour(index), theme);
}

function ownColour(
  field: Field,
  value: unknown,
  theme: Theme,
  index: number,
): { readonly colour: string; readonly coloured: boolean } {
  const { color, thresholds } = field.config;
  const mode = color?.mode ?? 'thresholds';
  const number = typeof value === 'number' ? value : Number.NaN;
  if (mode === 'fixed' || mode === 'shades')
    return { colour: toCss(color?.fixedColor, theme), coloured: true };
  if (mode === 'thresholds') {
    const step = thresholdFor(thresholds, number, field);
    return { colour: toCss(step ?? 'text', theme), coloured: step !== null };
  }
  if (mode.startsWith('continuous')) {
    const [low, high] = field.range;
    const share = high === low ? 0 : (number - low) / (high - low);
    const scale = Number.isNaN(number) ? null : scaleColour(mode, share, theme);
    return { colour: scale ?? toCss('text', theme), coloured: scale !== null };
  }
  return { colour: seriesColour(field, theme, index), coloured: true };
}

/** Colour of the highest step that the value reaches. */
function thresholdFor(thresholds: Thresholds | undefined, value: number, field: Field): string | null {
  if (thresholds === undefined || Number.isNaN(value)) return null;
  const steps = absoluteSteps(thresholds, field);
  return steps.findLast((step) => value >= (step.value ?? -Infinity))?.color ?? steps[0]?.color ?? null;
}

/** Steps in the field's own numbers: percentages are of its range. */
export function absoluteSteps(thresholds: Thresholds, field: Field): Thresholds['steps'] {
  if (thresholds.mode !== 'percentage') return thresholds.steps;
  const [low, high] = field.range;
  return thresholds.steps.map(({ value, color }) => ({
    value: value === null ? null : low + ((high - low) * value) / 100,
    color,
  }));
}

export const isHidden = ({ custom }: FieldConfig): boolean =>
  custom?.hidden === true || custom?.hideFrom?.viz === true;

import { classicColour, shadeOfRed, toCss, type Theme } from './colours.ts';
import type { Field } from './fields.ts';
import { mapValue } from './mappings.ts';
import type { Thresholds } from './types.ts';
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
  return toCss(mode === 'fixed' ? (fixedColor ?? 'green') : classicColour(index), theme);
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
  if (mode === 'thresholds') {
    const step = thresholdFor(thresholds, number);
    return { colour: toCss(step ?? 'text', theme), coloured: step !== null };
  }
  if (mode === 'continuous-reds') {
    if (Number.isNaN(number)) return { colour: toCss('text', theme), coloured: false };
    const [low, high] = field.range;
    const share = high === low ? 0 : (number - low) / (high - low);
    return { colour: shadeOfRed(share, theme), coloured: true };
  }
  return { colour: seriesColour(field, theme, index), coloured: true };
}

/** Colour of the highest step that the value reaches. */
function thresholdFor(thresholds: Thresholds | undefined, value: number): string | null {
  if (thresholds === undefined || Number.isNaN(value)) return null;
  const { steps } = thresholds;
  return steps.findLast((step) => value >= (step.value ?? -Infinity))?.color ?? steps[0]?.color ?? null;
}

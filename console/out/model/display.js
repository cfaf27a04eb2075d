import { classicColour, colourByName, scaleColour, toCss,            } from './colours.js';

import { mapValue } from './mappings.js';

import { formatNumber, isoTime, isTimeUnit,                } from './units.js';

/** A value as it is shown: text and colour (CSS). */

/** Numbers of a field, holes left out. */
export const numbersOf = (field       )           =>
  field.values.filter((value)                  => typeof value === 'number' && Number.isFinite(value));

/**
 * Shows a value by its field's unit, mappings, thresholds and colour mode.
 * @param index of the field among the panel's series: the classic palette goes by it
 */
export function display(field       , value         , theme       , index = 0)        {
  const mapped = mapValue(field.config.mappings, value);
  const own = ownColour(field, value, theme, index);
  const colour = mapped?.color === undefined ? own.colour : toCss(mapped.color, theme);
  const coloured = mapped?.color !== undefined || own.coloured;
  if (mapped?.text !== undefined && mapped.text !== '')
    return { text: mapped.text, suffix: '', colour, coloured };
  return { ...formatValue(field, value), colour, coloured };
}

export function formatValue({ config, kind }       , value         )            {
  if (value === null || value === undefined || Number.isNaN(value))
    return { text: config.noValue ?? '–', suffix: '' };
  if (typeof value === 'number') {
    if (kind === 'time' && !isTimeUnit(config.unit)) return { text: isoTime(value), suffix: '' };
    return formatNumber(value, config.unit, config.decimals ?? null);
  }
  if (typeof value === 'object') return { text: JSON.stringify(value), suffix: '' };
  return { text: String(value                    ), suffix: '' };
}

/** Colour of the field as a whole: its line, its entry in a legend. */
export function seriesColour(field       , theme       , index        )         {
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
  field       ,
  value         ,
  theme       ,
  index        ,
)                                                          {
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
function thresholdFor(thresholds                        , value        , field       )                {
  if (thresholds === undefined || Number.isNaN(value)) return null;
  const steps = absoluteSteps(thresholds, field);
  return steps.findLast((step) => value >= (step.value ?? -Infinity))?.color ?? steps[0]?.color ?? null;
}

/** Steps in the field's own numbers: percentages are of its range. */
export function absoluteSteps(thresholds            , field       )                      {
  if (thresholds.mode !== 'percentage') return thresholds.steps;
  const [low, high] = field.range;
  return thresholds.steps.map(({ value, color }) => ({
    value: value === null ? null : low + ((high - low) * value) / 100,
    color,
  }));
}

export const isHidden = ({ custom }             )          =>
  custom?.hidden === true || custom?.hideFrom?.viz === true;

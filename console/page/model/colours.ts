/**
 * Grafana's named colours. Each row: super-light, light, the colour, semi-dark, dark; the light theme begins
 * a shade darker.
 */
type Shades = readonly [string, string, string, string, string];

const HUES: Readonly<Record<string, { readonly dark: Shades; readonly light: Shades }>> = {
  red: {
    dark: ['#ffa6b0', '#ff7383', '#f2495c', '#e02f44', '#c4162a'],
    light: ['#ff7383', '#f2495c', '#e02f44', '#c4162a', '#ad0317'],
  },
  orange: {
    dark: ['#ffcb7d', '#ffb357', '#ff9830', '#ff780a', '#fa6400'],
    light: ['#ffb357', '#ff9830', '#ff780a', '#fa6400', '#e55400'],
  },
  yellow: {
    dark: ['#fff899', '#ffee52', '#fade2a', '#f2cc0c', '#e0b400'],
    light: ['#ffee52', '#fade2a', '#f2cc0c', '#e0b400', '#cc9d00'],
  },
  green: {
    dark: ['#c8f2c2', '#96d98d', '#73bf69', '#56a64b', '#37872d'],
    light: ['#96d98d', '#73bf69', '#56a64b', '#37872d', '#19730e'],
  },
  blue: {
    dark: ['#c0d8ff', '#8ab8ff', '#5794f2', '#3274d9', '#1f60c4'],
    light: ['#8ab8ff', '#5794f2', '#3274d9', '#1f60c4', '#1250b0'],
  },
  purple: {
    dark: ['#deb6f2', '#ca95e5', '#b877d9', '#a352cc', '#8f3bb8'],
    light: ['#ca95e5', '#b877d9', '#a352cc', '#8f3bb8', '#7c2ea3'],
  },
};
const SHADES = ['super-light', 'light', '', 'semi-dark', 'dark'] as const;

export type Theme = 'dark' | 'light';

export const SURFACE = { dark: '#181b1f', light: '#ffffff' } as const;
const TEXT = { dark: '#d2d5dc', light: '#24292e' } as const;

/** A colour of a dashboard as CSS has it: Grafana's names in this theme, anything else as it is. */
export function toCss(colour: string | undefined, theme: Theme): string {
  if (colour === undefined || colour === '') return toCss('grey', theme);
  if (colour === 'text') return TEXT[theme];
  if (colour === 'grey' || colour === 'gray') return theme === 'dark' ? '#8e8e8e' : '#767676';
  const [, shade = '', hue = ''] = /^(?:(super-light|light|semi-dark|dark)-)?([a-z]+)$/.exec(colour) ?? [];
  const index = SHADES.indexOf(shade as (typeof SHADES)[number]);
  return HUES[hue]?.[theme][index] ?? colour;
}

/** The classic palette: colours of series in their order. */
// prettier-ignore
const CLASSIC = [
  'green', 'semi-dark-yellow', 'light-blue', 'semi-dark-orange', 'red', 'blue', 'purple', '#705da0', 'dark-green',
  'yellow', '#447ebc', '#c15c17', '#890f02', '#0a437c', '#6d1f62', '#584477', '#b7dbab', '#f4d598', '#70dbed', '#f9ba8f',
] as const;
export const classicColour = (index: number): string => CLASSIC[index % CLASSIC.length] ?? 'green';

/** A colour that depends on the name alone. */
export function colourByName(name: string): string {
  let hash = 0;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) | 0;
  return classicColour(Math.abs(hash));
}

/** Colour of a share (0..1) on Grafana's scale from the panel's ground to red. */
export const shadeOfRed = (share: number, theme: Theme): string =>
  mix(SURFACE[theme], toCss('dark-red', theme), Math.min(Math.max(share, 0), 1));

const channels = (hex: string): [number, number, number] => {
  const full = hex.length === 4 ? hex.replace(/[\da-f]/gi, '$&$&') : hex;
  const [, r = '0', g = '0', b = '0'] = /^#?(..)(..)(..)/.exec(full) ?? [];
  return [Number.parseInt(r, 16) || 0, Number.parseInt(g, 16) || 0, Number.parseInt(b, 16) || 0];
};

export function mix(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)];
  const mixed = a.map((value, i) => Math.round(value + ((b[i] ?? 0) - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

export function withAlpha(hex: string, alpha: number): string {
  if (!hex.startsWith('#')) return hex;
  const [r, g, b] = channels(hex);
  return `rgba(${r}, ${g}, ${b}, ${Math.round(alpha * 1000) / 1000})`;
}

/** Relative luminance (WCAG 2). */
function luminance(hex: string): number {
  const linear = channels(hex).map((value) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
}

export function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever can be read on the colour. */
export const textOn = (background: string): string =>
  contrast(background, '#ffffff') >= contrast(background, '#111217') ? '#ffffff' : '#111217';

/** The colour, moved towards the theme's text until text in it can be read on a panel. */
export function readable(colour: string, theme: Theme, least = 4.5): string {
  if (!colour.startsWith('#')) return colour;
  let shown = colour;
  for (let step = 0; step < 8 && contrast(shown, SURFACE[theme]) < least; step++)
    shown = mix(shown, TEXT[theme], 0.2);
  return shown;
}

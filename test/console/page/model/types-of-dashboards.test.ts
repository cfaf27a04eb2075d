import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { UNITS } from '../../../../console/page/model/units.ts';
import { dashboardFiles } from '../../../dashboards/generated.ts';

/** What the page draws of Grafana. A dashboard that sets something else needs the page to learn it first. */
const DRAWN = new Map<string, readonly unknown[]>([
  ['unit', UNITS],
  ['color.mode', ['continuous-reds', 'fixed', 'palette-classic', 'thresholds']],
  ['thresholds.mode', ['absolute']],
  ['mappings.type', ['value']],
  ['matcher.id', ['byName', 'byRegexp']],
  ['custom.drawStyle', ['bars', 'line']],
  ['custom.lineInterpolation', []],
  ['custom.spanNulls', [false]],
  ['stacking.mode', ['none', 'normal']],
  ['thresholdsStyle.mode', ['dashed', 'off']],
  ['cellOptions.type', ['color-background', 'color-text']],
  ['hideFrom.viz', [false]],
  ['legend.calcs', ['lastNotNull', 'max', 'mean', 'min', 'sum']],
  ['reduceOptions.calcs', ['lastNotNull']],
  ['reduceOptions.fields', ['']],
  ['options.colorMode', ['value']],
  ['options.graphMode', ['none']],
  ['options.orientation', ['auto', 'horizontal']],
  ['options.textMode', ['value_and_name']],
  ['options.displayMode', ['gradient']],
  ['options.mode', ['markdown']],
  ['options.showHeader', [true]],
  ['options.showUnfilled', [true]],
  ['options.mergeValues', [true]],
  ['footer.show', [false]],
]);

/** What a dashboard sets that the page does not draw. An override `{ id, value }` reads as `id: value`. */
function notDrawn(node: unknown, parent = '', key = ''): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => notDrawn(one, parent, key));
  if (typeof node === 'object' && node !== null) {
    const { id, value } = node as { id?: unknown; value?: unknown };
    if (typeof id === 'string' && value !== undefined) return notDrawn(value, '', id.replace('custom.', ''));
    return Object.entries(node).flatMap(([name, inner]) => notDrawn(inner, key, name));
  }
  const name = DRAWN.has(`${parent}.${key}`) ? `${parent}.${key}` : key;
  const isDrawn = DRAWN.get(name)?.includes(node) ?? true;
  return isDrawn ? [] : [`${name}: ${String(node)}`];
}

const OF_ALERTS = ['gatewatch-incident.json', 'gatewatch-runbooks.json'].map((name) => {
  const path = new URL(`../../../../alerts/out/dashboards/${name}`, import.meta.url);
  return { name, json: JSON.parse(readFileSync(path, 'utf8')) as unknown };
});

it.each([...dashboardFiles(), ...OF_ALERTS])('the page draws all of $name', ({ json }) => {
  expect(notDrawn(json)).toEqual([]);
  expect(notDrawn({ unit: 'furlong', options: { reduceOptions: { calcs: ['median'] } } })).toHaveLength(2);
});

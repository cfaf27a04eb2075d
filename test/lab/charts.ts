/** One line of a chart; null leaves a gap. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** A CSS variable of the chart's style. */
  readonly colour: 'first' | 'second' | 'third' | 'aim';
  readonly dashed?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  /** Under the points, from left to right. */
  readonly labels: readonly string[];
  readonly xTitle: string;
  readonly series: readonly Series[];
  /** Logarithmic: values differ by orders of magnitude. Zero is drawn at the bottom. */
  readonly log: boolean;
  /** Top of a linear axis. */
  readonly top?: number;
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 52;

const STYLE = `text{font:12px system-ui,sans-serif;fill:#475467}.t{font-size:14px;font-weight:600;fill:#1c2330}.g{stroke:#d0d5dd}
.first{stroke:#2f6fdf;fill:#2f6fdf}.second{stroke:#d92d20;fill:#d92d20}.third{stroke:#b54708;fill:#b54708}.aim{stroke:#667085;fill:#667085}.l{fill:none;stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#98a2b3}.t{fill:#e6e9ef}.g{stroke:#344054}.first{stroke:#7aa5f8;fill:#7aa5f8}.second{stroke:#f97066;fill:#f97066}.third{stroke:#fdb022;fill:#fdb022}.l{fill:none}}`;

/** A line chart as an SVG file of its own, for light and dark pages. */
export function drawChart(chart: Chart): string {
  const { labels, series, log } = chart;
  const values = series.flatMap((one) => one.values.filter((value) => value !== null));
  const positive = values.filter((value) => value > 0);
  const low = log ? 10 ** Math.floor(Math.log10(Math.min(...positive, 1))) : 0;
  const high = log
    ? 10 ** Math.ceil(Math.log10(Math.max(...positive, 1)))
    : (chart.top ?? Math.max(...values));
  const scale = (value: number): number =>
    log ? Math.log10(Math.max(value, low) / low) / Math.log10(high / low || 10) : value / high;
  const x = (index: number): number =>
    LEFT + ((WIDTH - LEFT - RIGHT) * (index + 0.5)) / Math.max(1, labels.length);
  const y = (value: number): number => HEIGHT - BOTTOM - scale(value) * (HEIGHT - TOP - BOTTOM);
  const ticks = log
    ? Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, power) => low * 10 ** power)
    : [0, 0.25, 0.5, 0.75, 1].map((part) => part * high);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${chart.title}">
<style>${STYLE}</style>
<text class="t" x="8" y="20">${chart.title}</text>
${ticks.map((tick) => `<line class="g" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fix(y(tick))}" y2="${fix(y(tick))}"/><text x="${LEFT - 6}" y="${fix(y(tick) + 4)}" text-anchor="end">${tickText(tick, log)}${chart.unit}</text>`).join('\n')}
${labels.map((label, index) => `<text x="${fix(x(index))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${label}</text>`).join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 12}" text-anchor="middle">${chart.xTitle}</text>
${series.map((one, place) => line(one, place, x, y)).join('\n')}
</svg>
`;
}

function line(
  one: Series,
  place: number,
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let drawing = false;
  const dots: string[] = [];
  for (const [index, value] of one.values.entries()) {
    if (value !== null) {
      path += `${drawing ? 'L' : 'M'}${fix(x(index))} ${fix(y(value))}`;
      dots.push(`<circle class="${one.colour}" cx="${fix(x(index))}" cy="${fix(y(value))}" r="3"/>`);
    }
    drawing = value !== null;
  }
  const dash = one.dashed === true ? ' stroke-dasharray="5 4"' : '';
  const legend = TOP + 8 + place * 20;
  return (
    `<path class="l ${one.colour}" d="${path}"${dash}/>${one.dashed === true ? '' : dots.join('')}` +
    `<line class="l ${one.colour}" x1="${WIDTH - RIGHT + 8}" x2="${WIDTH - RIGHT + 28}" y1="${legend}" y2="${legend}"${dash}/><text x="${WIDTH - RIGHT + 34}" y="${legend + 4}">${one.name}</text>`
  );
}

const fix = (value: number): string => String(Math.round(value * 10) / 10);
const tickText = (value: number, log: boolean): string =>
  log ? value.toLocaleString('en-US', { maximumFractionDigits: 4 }) : String(Math.round(value * 100) / 100);

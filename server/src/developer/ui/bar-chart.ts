import { html, type SafeHtml } from './html.ts';

/** A series in a bar chart. It has one value per label. */
export interface Bars {
  name: string;
  /** A CSS color that has enough contrast in the light and the dark theme. */
  color: string;
  values: readonly number[];
}

export interface Chart {
  /** The direction of the bars: stacked vertical `columns`, or grouped horizontal `rows`. */
  form: 'columns' | 'rows';
  /** The labels below the columns or above the groups of rows. The label of a column can be empty. */
  labels: readonly string[];
  bars: readonly Bars[];
  /** The unit of the values, such as `ms`. */
  unit?: string;
}

/*
 * In the charts, widths are percentages and heights are pixels, so text has the same size on every screen. The style
 * sheet sets the colors of text and lines for each theme.
 */

/**
 * Renders a chart and its legend as inline SVG.
 * @param label a description of the chart for screen readers
 */
export function barChart(chart: Chart, label: string): SafeHtml {
  return html`<figure class="chart">${chart.form === 'columns' ? columns(chart, label) : rows(chart, label)}
<ul class="legend">${chart.bars.map(
    ({ name, color }) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><rect width="12" height="12" rx="3" fill="${color}"/></svg>${name}</li>`,
  )}</ul></figure>`;
}

/** The heights in pixels of the columns and of the labels below them. */
const [plotHeight, labelHeight] = [200, 24];
const maxLines = 5;
const maxLabels = 12;

function columns({ labels, bars }: Chart, label: string): SafeHtml {
  const sums = labels.map((_, position) => bars.reduce((sum, { values }) => sum + (values[position] ?? 0), 0));
  const step = lineStep(Math.max(...sums));
  const lines = Array.from({ length: Math.ceil(Math.max(...sums) / step) + 1 }, (_, index) => index * step);
  const top = lines.at(-1) ?? step;
  const yOf = (value: number) => Number((plotHeight * (1 - value / top)).toFixed(1));
  const bases = labels.map(() => 0);
  const paths = bars.map(({ color, values }) => {
    const bar = (value: number, position: number) => {
      const base = bases[position] ?? 0;
      bases[position] = base + value;
      return value === 0 ? '' : `M${position + 0.1} ${yOf(base)}V${yOf(base + value)}h.8V${yOf(base)}z`;
    };
    return html`<path fill="${color}" d="${values.map(bar).join('')}"/>`;
  });
  return html`<svg class="columns" width="100%" height="${plotHeight + labelHeight}" role="img" aria-label="${label}">
${lines.map(
  (value) => html`<line x2="100%" y1="${yOf(value)}" y2="${yOf(value)}"/>
<text x="-8" y="${yOf(value) + 4}" text-anchor="end">${compact.format(value)}</text>`,
)}<svg width="100%" height="${plotHeight}" viewBox="0 0 ${labels.length} ${plotHeight}" preserveAspectRatio="none">${paths}</svg>
${axisLabels(labels)}</svg>`;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/**
 * Renders at most `maxLabels` labels below the columns. On narrow screens, the style sheet hides every second label.
 */
function axisLabels(labels: readonly string[]): SafeHtml[] {
  const named = labels.flatMap((label, position) => (label === '' ? [] : [{ label, position }]));
  const every = Math.ceil(named.length / maxLabels);
  return named
    .filter((_, index) => index % every === 0)
    .map(({ label, position }, index) => {
      const x = (((position + 0.5) / labels.length) * 100).toFixed(2);
      return html`<text ${index % 2 === 1 ? html`class="wide"` : ''} x="${x}%" y="${plotHeight + 18}" text-anchor="middle">${label}</text>`;
    });
}

/** Returns the distance between grid lines: 1, 2 or 5 times a power of ten, and at least 1. */
function lineStep(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, max / maxLines)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step * maxLines >= max) ?? power;
}

/** The heights in pixels of a group label, of a bar, and of the gap below a group. */
const [nameHeight, barHeight, gap] = [22, 18, 10];

function rows({ labels, bars, unit = '' }: Chart, label: string): SafeHtml {
  const max = Math.max(...bars.flatMap(({ values }) => values));
  const groupHeight = nameHeight + bars.length * barHeight + gap;
  const groups = labels.map((name, position) => {
    const top = position * groupHeight;
    return html`<text y="${top + 14}">${name}</text>${bars.map(({ color, values }, index) => {
      const value = values[position] ?? 0;
      const width = ((value / Math.max(1, max)) * 100).toFixed(2);
      const y = top + nameHeight + index * barHeight;
      return html`<rect y="${y}" width="${width}%" height="${barHeight - 4}" fill="${color}"/>
<text x="${width}%" dx="6" y="${y + 12}">${value.toLocaleString('en')} ${unit}</text>`;
    })}`;
  });
  return html`<svg class="rows" width="100%" height="${labels.length * groupHeight}" role="img" aria-label="${label}">${groups}</svg>`;
}

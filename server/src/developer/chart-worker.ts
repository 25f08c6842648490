import { BarChart, type BarSeriesOption } from 'echarts/charts';
import {
  GridComponent,
  type GridComponentOption,
  LegendComponent,
  type LegendComponentOption,
} from 'echarts/components';
import { type ComposeOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { type Bars, type Chart, type Drawing, type Look, sizeOf, type Width } from './chart.ts';

/*
 * Draws charts as SVG: what the thread of charts.ts runs.
 */
use([BarChart, GridComponent, LegendComponent, SVGRenderer]);

/** The page's own look (frame.css). */
const colors: Record<Look, { paper: string; ink: string; line: string }> = {
  light: { paper: '#ffffff', ink: '#475569', line: '#e2e8f0' },
  dark: { paper: '#0b1120', ink: '#a3b1c6', line: '#23304a' },
};

/** No name in quotes: they would end the attribute that it stands in. */
const fontFamily = 'ui-sans-serif, system-ui, -apple-system, Roboto, Arial, sans-serif';

/** The room below the bars, for the marks of the axis and for what the bars are called: up to two lines on a phone. */
const bottoms: Record<Width, number> = { wide: 56, narrow: 80 };
/** Text is measured without its font here, and may be wider. */
const itemGap = 20;

type Option = ComposeOption<BarSeriesOption | GridComponentOption | LegendComponentOption>;

export default function draw({ chart, look, width }: Drawing): string {
  const { ink, paper } = colors[look];
  const image = init(null, null, { renderer: 'svg', ssr: true, ...sizeOf(chart, width) });
  try {
    image.setOption({
      animation: false,
      backgroundColor: paper,
      textStyle: { fontFamily },
      legend: {
        bottom: 6,
        itemWidth: 12,
        itemHeight: 12,
        itemGap,
        textStyle: { color: ink, fontFamily },
        selectedMode: false,
      },
      ...(chart.form === 'columns' ? columns(chart, look, bottoms[width]) : rows(chart, look, bottoms[width])),
    });
    return withoutStyle(image.renderToSVGString({ useViewBox: true }));
  } finally {
    image.dispose();
  }
}

function columns({ labels, bars, unit }: Chart, look: Look, bottom: number): Option {
  return {
    grid: { left: 16, right: 16, top: 16, bottom },
    xAxis: { type: 'category', data: [...labels], axisTick: { show: false }, ...axis(look, (label) => label !== '') },
    yAxis: { type: 'value', minInterval: 1, ...scale(look, unit) },
    series: bars.map((each) => ({ ...series(each), stack: 'all' })),
  };
}

function rows({ labels, bars, unit }: Chart, look: Look, bottom: number): Option {
  const { ink } = colors[look];
  const longest = Math.max(0, ...labels.map(({ length }) => length));
  return {
    grid: { left: 12 + longest * 1.5, right: 48, top: 8, bottom },
    yAxis: { type: 'category', data: [...labels], inverse: true, axisTick: { show: false }, ...axis(look, () => true) },
    xAxis: { type: 'value', ...scale(look, unit) },
    series: bars.map((each) => ({
      ...series(each),
      label: { show: true, position: 'right', color: ink, fontFamily },
    })),
  };
}

function axis(look: Look, shows: (label: string) => boolean) {
  const { ink, line } = colors[look];
  const interval = (_: number, label: string) => shows(label);
  return {
    axisLabel: { color: ink, hideOverlap: true, fontFamily, interval },
    axisLine: { lineStyle: { color: line } },
  };
}

function scale(look: Look, unit: string | undefined) {
  const { ink, line } = colors[look];
  const formatter = unit === undefined ? '{value}' : `{value} ${unit}`;
  return { axisLabel: { color: ink, hideOverlap: true, formatter }, splitLine: { lineStyle: { color: line } } };
}

function series({ name, color, values }: Bars): BarSeriesOption {
  return {
    type: 'bar',
    name,
    // A bar of nothing would be a path all the same.
    data: values.map((value) => (value === 0 ? '-' : value)),
    itemStyle: { color },
    barMaxWidth: 22,
    silent: true,
    emphasis: { disabled: true },
  };
}

/** The same without styles, which the policy of the pages forbids: attributes say it, and what is pointed at is as it was. */
function withoutStyle(svg: string): string {
  const attributes = (style: string) => style.replace(/([\w-]+):([^;]*);?/g, ' $1="$2"');
  return svg
    .replace(/ style="([^"]*)"/g, (_, style: string) => attributes(style))
    .replace(/<style.*<\/style>/s, '')
    .replace(/ class="[^"]*"/g, '');
}

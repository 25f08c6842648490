import { BarChart, type BarSeriesOption } from 'echarts/charts';
import {
  GridComponent,
  type GridComponentOption,
  LegendComponent,
  type LegendComponentOption,
} from 'echarts/components';
import { type ComposeOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Bars, Chart, Look } from './charts.ts';

/*
 * Draws charts as SVG: what a thread of charts.ts runs.
 */
use([BarChart, GridComponent, LegendComponent, SVGRenderer]);

/** The page's own look (frame.css): an image knows nothing of it. */
const looks: Record<Look, { paper: string; ink: string; line: string }> = {
  light: { paper: '#ffffff', ink: '#475569', line: '#e2e8f0' },
  dark: { paper: '#0b1120', ink: '#a3b1c6', line: '#23304a' },
};

export interface Drawing {
  chart: Chart;
  look: Look;
}

type Option = ComposeOption<BarSeriesOption | GridComponentOption | LegendComponentOption>;

const width = 760;
/** No name in quotes: they would end the attribute that it stands in. */
const fontFamily = 'ui-sans-serif, system-ui, -apple-system, Roboto, Arial, sans-serif';

export default function drawing({ chart, look }: Drawing): string {
  return chart.form === 'columns' ? columns(chart, look) : rows(chart, look);
}

function columns({ labels, bars, unit }: Chart, look: Look): string {
  const { ink, line } = looks[look];
  return draw(look, 260, {
    grid: { left: 8, right: 8, top: 16, bottom: 40 },
    xAxis: { type: 'category', data: [...labels], axisTick: { show: false }, ...axis(look) },
    yAxis: {
      type: 'value',
      minInterval: 1,
      axisLabel: { color: ink, ...(unit && { formatter: `{value} ${unit}` }) },
      splitLine: { lineStyle: { color: line } },
    },
    series: bars.map((each) => series(each, 'all')),
  });
}

function rows({ labels, bars, unit }: Chart, look: Look): string {
  const { ink, line } = looks[look];
  return draw(look, 70 + 40 * labels.length, {
    grid: { left: 8, right: 48, top: 8, bottom: 40 },
    yAxis: { type: 'category', data: [...labels], inverse: true, axisTick: { show: false }, ...axis(look) },
    xAxis: {
      type: 'value',
      axisLabel: { color: ink, hideOverlap: true, ...(unit && { formatter: `{value} ${unit}` }) },
      splitLine: { lineStyle: { color: line } },
    },
    series: bars.map((each) => ({
      ...series(each, undefined),
      label: { show: true, position: 'right', color: ink, fontFamily },
    })),
  });
}

function axis(look: Look) {
  const { ink, line } = looks[look];
  return { axisLabel: { color: ink, hideOverlap: true, fontFamily }, axisLine: { lineStyle: { color: line } } };
}

function series({ name, color, values }: Bars, stack: string | undefined): BarSeriesOption {
  return {
    type: 'bar',
    name,
    ...(stack !== undefined && { stack }),
    // A bar of nothing would be a path for each.
    data: values.map((value) => (value === 0 ? '-' : value)),
    itemStyle: { color },
    barMaxWidth: 22,
    silent: true,
    emphasis: { disabled: true },
  };
}

function draw(look: Look, height: number, option: Option): string {
  const { ink, paper } = looks[look];
  const image = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    image.setOption({
      animation: false,
      backgroundColor: paper,
      textStyle: { fontFamily },
      legend: { bottom: 0, itemWidth: 12, itemHeight: 12, textStyle: { color: ink, fontFamily }, selectedMode: false },
      ...option,
    });
    return image.renderToSVGString({ useViewBox: true });
  } finally {
    image.dispose();
  }
}

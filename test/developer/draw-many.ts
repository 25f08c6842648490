import type { Chart } from '@itsm-api/server/developer/chart.ts';
import { drawChart } from '@itsm-api/server/developer/charts.ts';

/*
 * A process that draws a hundred charts, and prints how much more memory it holds then. MB.
 */
const labels = Array.from({ length: 60 }, (_, minute) => (minute % 10 === 0 ? `12:${minute}` : ''));
const colors = ['#2563eb', '#16a34a', '#dc2626', '#f59e0b'];
const bars = colors.map((color) => ({ name: color, color, values: labels.map((_, minute) => 1 + (minute % 7)) }));
const chart: Chart = { form: 'columns', labels, bars };

const before = process.memoryUsage.rss();
for (let drawn = 0; drawn < 100; drawn++) await drawChart(1n, { chart, look: 'light', width: 'wide' });
console.log((process.memoryUsage.rss() - before) / 2 ** 20);
// The thread waits for more.
process.exit();

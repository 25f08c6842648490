import { Piscina } from 'piscina';
import type { Drawing } from './chart.ts';

/*
 * Charts are drawn in a thread of its own: loading what draws takes a second of CPU time, and each drawing as much as a
 * hundred requests. It starts with the first chart, and gives its 60 MB back when none was asked for in a minute.
 */
let threads: Piscina<Drawing, string> | undefined;

/** Draws a chart as SVG. */
export function drawChart(drawing: Drawing): Promise<string> {
  threads ??= new Piscina({
    filename: new URL('./chart-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: 100,
    idleTimeout: 60_000,
  });
  return threads.run(drawing);
}

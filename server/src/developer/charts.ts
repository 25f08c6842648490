import { Piscina } from 'piscina';
import type { Drawing } from './chart-worker.ts';

/** One kind of bar. */
export interface Bars {
  name: string;
  /** A colour that can be told from the paper, light and dark. */
  color: string;
  values: readonly number[];
}

export interface Chart {
  /** `columns` stand on each other, `rows` beside each other. */
  form: 'columns' | 'rows';
  /** What stands below each column, or before each row. */
  labels: readonly string[];
  bars: readonly Bars[];
  /** What a value is given in, such as ms. */
  unit?: string;
}

export type Look = 'light' | 'dark';

export interface Charts {
  /** As SVG. */
  draw(chart: Chart, look: Look): Promise<string>;
  close(): Promise<void>;
}

/** How long the thread waits for the next chart; without it, its 60 MB are given back. Milliseconds. */
const idleMs = 60_000;

/**
 * Draws charts in a thread of its own, which starts with the first: loading what draws takes a second, and each drawing as
 * long as a hundred requests.
 */
export function openCharts(): Charts {
  const threads = new Piscina<Drawing, string>({
    filename: new URL('./chart-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: 100,
    idleTimeout: idleMs,
  });
  return {
    draw: (chart, look) => threads.run({ chart, look }),
    close: () => threads.destroy(),
  };
}

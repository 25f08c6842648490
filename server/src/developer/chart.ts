/** One kind of bar. */
export interface Bars {
  name: string;
  /** A colour that can be told from the paper, light and dark. */
  color: string;
  values: readonly number[];
}

/** What is drawn, and stands in a table beside it. */
export interface Chart {
  /** `columns` stand on each other, `rows` beside each other. */
  form: 'columns' | 'rows';
  /** What stands below each column, or nothing; or before each row. */
  labels: readonly string[];
  bars: readonly Bars[];
  /** What a value is given in, such as ms. */
  unit?: string;
}

/** An image knows nothing of the theme that the page has. */
export const looks = ['light', 'dark'] as const;
export type Look = (typeof looks)[number];

/** What the thread that draws is asked for. */
export interface Drawing {
  chart: Chart;
  look: Look;
}

/** How large a chart is. Pixels. */
export function sizeOf({ form, labels }: Chart): { width: number; height: number } {
  return { width: 760, height: form === 'columns' ? 260 : 70 + 40 * labels.length };
}

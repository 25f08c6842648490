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

/** For a screen, and for a phone, on which the text of a wide one would be too small to read. Pixels. */
export const widths = { wide: 760, narrow: 380 };
export type Width = keyof typeof widths;

/** What the thread that draws is asked for. */
export interface Drawing {
  chart: Chart;
  look: Look;
  width: Width;
}

/** How large a chart is. Pixels. */
export function sizeOf({ form, labels }: Chart, width: Width): { width: number; height: number } {
  return { width: widths[width], height: form === 'columns' ? 280 : 80 + 40 * labels.length };
}

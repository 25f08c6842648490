import { styleText } from 'node:util';
import { printable } from './cli-errors.ts';
import { relativeTime } from './relative-time.ts';

type Style = Parameters<typeof styleText>[0];

/** Text with a color or style. Terminals without colors ignore the style. */
interface StyledText {
  text: string;
  style: Style;
}

export type Cell = string | number | null | StyledText;

/** Functions that format results for a terminal. */
export interface Output {
  /** Returns a relative time such as `3 hours ago`. With the option `--utc`, returns the exact time. */
  time(moment: string | null, absent?: string): string;
  /** Formats rows as aligned columns with a header. Truncates cells that don't fit the terminal. */
  table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string;
  /** Formats each field as one line. Omits undefined fields. */
  card(fields: Readonly<Record<string, Cell | undefined>>): string;
}

const gap = '  ';
/** Minimum width of a truncated table column, in terminal columns. */
const minColumnWidth = 6;

/** A function that returns the width of a text in terminal columns. */
export type TextWidth = (text: string) => number;

/**
 * Returns the function that measures the width of the text `shown`. If the text contains only Latin letters, doesn't
 * load `string-width`, because loading it takes longer than a query.
 */
export async function textWidthFor(shown: string): Promise<TextWidth> {
  if (/^[\s\x20-\x7e\xa1-\xac\xae-\u02ff]*$/.test(shown)) return (text) => text.length;
  return (await import('string-width')).default;
}

interface OutputOptions {
  utc: boolean;
  /** Width of the terminal in columns. If undefined, cells are not truncated. */
  width: number | undefined;
  now: Date;
  textWidth: TextWidth;
}

export function createOutput({ utc, width, now, textWidth }: OutputOptions): Output {
  const time = (moment: string | null, absent = '-') => {
    if (moment === null) return absent;
    return utc ? moment : relativeTime(new Date(moment), now);
  };
  return {
    time,
    table(heads, rows) {
      const titles = heads.map((text): StyledText => ({ text, style: 'bold' }));
      const lines = [titles, ...rows].map((row) => row.map(toStyled));
      const widths = fitWidths(
        heads.map((_, column) => Math.max(...lines.map((line) => textWidth(line[column]?.text ?? '')))),
        width,
      );
      return lines.map((line) => formatLine(line, widths, textWidth)).join('\n');
    },
    card(fields) {
      const named = Object.entries(fields).filter((field): field is [string, Cell] => field[1] !== undefined);
      const widest = Math.max(...named.map(([name]) => name.length));
      return named
        .map(([name, cell]) => styleText('dim', name.padEnd(widest)) + gap + paint(toStyled(cell)))
        .join('\n');
    },
  };
}

const colours: Record<string, Style> = {
  ...{
    active: 'green',
    HEALTHY: 'green',
    DELIVERED: 'green',
    IN_USE: 'green',
    ACTIVE: 'green',
    COMPLETED: 'green',
  },
  ...{ PENDING: 'yellow', PAUSED: 'yellow', RETRYING: 'yellow', CIRCUIT_OPEN: 'yellow' },
  ...{ MAINTENANCE: 'yellow', maintenance: 'yellow', 'read-only': 'yellow', ON_HOLD: 'yellow', expiring: 'yellow' },
  ...{ EXHAUSTED: 'red', revoked: 'red', expired: 'red', LOST: 'red' },
  ...{ inactive: 'dim', INACTIVE: 'dim', CANCELLED: 'dim', RETIRED: 'dim', DISPOSED: 'dim' },
};

/**
 * Returns a status with its color: green for success, yellow for waiting, red for failure. Inactive resources are
 * dimmed.
 */
export function statusLabel(text: string): StyledText {
  return { text, style: colours[text] ?? 'reset' };
}

/** Returns the status `active` or `inactive` with its color. */
export function activeLabel(active: boolean): StyledText {
  return statusLabel(active ? 'active' : 'inactive');
}

function toStyled(cell: Cell): StyledText {
  if (typeof cell === 'object' && cell !== null) return { ...cell, text: printable(cell.text) };
  return { text: cell === null || cell === '' ? '-' : printable(String(cell)), style: 'reset' };
}

function paint({ text, style }: StyledText): string {
  return style === 'reset' ? text : styleText(style, text);
}

/** Returns column widths that fit the terminal. Shrinks the widest column first. */
function fitWidths(requested: readonly number[], width: number | undefined): number[] {
  const widths = [...requested];
  const free = (width ?? Number.POSITIVE_INFINITY) - gap.length * (widths.length - 1);
  for (let over = sum(widths) - free; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= minColumnWidth) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function formatLine(line: readonly StyledText[], widths: readonly number[], textWidth: TextWidth): string {
  return line
    .map(({ text, style }, column) => {
      const width = widths[column] ?? 0;
      const cut = truncate(text, width, textWidth);
      const isLast = column === line.length - 1;
      const padding = isLast ? '' : ' '.repeat(width - textWidth(cut));
      return paint({ text: cut, style }) + padding;
    })
    .join(gap)
    .trimEnd();
}

/** Truncates a text to a width and ends it with an ellipsis. */
function truncate(text: string, width: number, textWidth: TextWidth): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(cut + segment) >= width) break;
    cut += segment;
  }
  return `${cut}…`;
}

import { styleText } from 'node:util';
import { printable } from './cli-errors.ts';
import { relativeTime } from './relative-time.ts';

type Style = Parameters<typeof styleText>[0];

/** A piece of text that has a colour where the terminal shows any. */
interface Styled {
  text: string;
  style: Style;
}

export type Cell = string | number | null | Styled;

/** How results are shown to a person: this once, on this terminal. */
export interface Output {
  /** A moment as how long ago or ahead it is, or exactly with `--utc`. */
  time(moment: string | null, absent?: string): string;
  /** Aligned columns below their heads, as wide as the terminal at most. */
  table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string;
  /** One thing, a line for each of its fields; those that are undefined are left out. */
  card(fields: Readonly<Record<string, Cell | undefined>>): string;
}

const gap = '  ';
/** No column is made narrower. */
const narrowest = 6;

/** How many columns of a terminal a text takes. */
export type TextWidth = (text: string) => number;

/**
 * Of text in Latin letters each character takes one. What knows all others takes longer to load than PostgreSQL to
 * answer.
 */
export async function textWidthFor(shown: string): Promise<TextWidth> {
  if (/^[\s\x20-\x7e\xa1-\xac\xae-\u02ff]*$/.test(shown)) return (text) => text.length;
  return (await import('string-width')).default;
}

interface ViewOptions {
  utc: boolean;
  /** Of the terminal, in columns; without one nothing is cut. */
  width: number | undefined;
  now: Date;
  textWidth: TextWidth;
}

export function createOutput({ utc, width, now, textWidth }: ViewOptions): Output {
  const time = (moment: string | null, absent = '-') => {
    if (moment === null) return absent;
    return utc ? moment : relativeTime(new Date(moment), now);
  };
  return {
    time,
    table(heads, rows) {
      const titles = heads.map((text): Styled => ({ text, style: 'bold' }));
      const lines = [titles, ...rows].map((row) => row.map(styled));
      const widths = fit(
        heads.map((_, column) => Math.max(...lines.map((line) => textWidth(line[column]?.text ?? '')))),
        width,
      );
      return lines.map((line) => shown(line, widths, textWidth)).join('\n');
    },
    card(fields) {
      const named = Object.entries(fields).filter((field): field is [string, Cell] => field[1] !== undefined);
      const widest = Math.max(...named.map(([name]) => name.length));
      return named
        .map(([name, cell]) => styleText('dim', name.padEnd(widest)) + gap + painted(styled(cell)))
        .join('\n');
    },
  };
}

const colours: Record<string, Style> = {
  ...{
    active: 'green',
    HEALTHY: 'green',
    works: 'green',
    DELIVERED: 'green',
    IN_USE: 'green',
    ACTIVE: 'green',
    COMPLETED: 'green',
  },
  ...{ PENDING: 'yellow', PAUSED: 'yellow', RETRYING: 'yellow', CIRCUIT_OPEN: 'yellow' },
  ...{ MAINTENANCE: 'yellow', ON_HOLD: 'yellow', expiring: 'yellow' },
  ...{ EXHAUSTED: 'red', revoked: 'red', expired: 'red', LOST: 'red' },
  ...{ inactive: 'dim', INACTIVE: 'dim', CANCELLED: 'dim', RETIRED: 'dim', DISPOSED: 'dim' },
};

/** A state in its colour: green for what works, yellow for what waits, red for what failed, dim for what is over. */
export function statusLabel(text: string): Styled {
  return { text, style: colours[text] ?? 'reset' };
}

/** Of a row that is active or not. */
export function activity(active: boolean): Styled {
  return statusLabel(active ? 'active' : 'inactive');
}

function styled(cell: Cell): Styled {
  if (typeof cell === 'object' && cell !== null) return { ...cell, text: printable(cell.text) };
  return { text: cell === null || cell === '' ? '-' : printable(String(cell)), style: 'reset' };
}

function painted({ text, style }: Styled): string {
  return style === 'reset' ? text : styleText(style, text);
}

/** What the columns may have: the widest ones give first. */
function fit(wanted: readonly number[], width: number | undefined): number[] {
  const widths = [...wanted];
  const free = (width ?? Number.POSITIVE_INFINITY) - gap.length * (widths.length - 1);
  for (let over = sum(widths) - free; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= narrowest) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function shown(line: readonly Styled[], widths: readonly number[], textWidth: TextWidth): string {
  return line
    .map(({ text, style }, column) => {
      const width = widths[column] ?? 0;
      const cut = truncated(text, width, textWidth);
      const isLast = column === line.length - 1;
      const padding = isLast ? '' : ' '.repeat(width - textWidth(cut));
      return painted({ text: cut, style }) + padding;
    })
    .join(gap)
    .trimEnd();
}

/** The text, or as many of its characters as fit beside an ellipsis. */
function truncated(text: string, width: number, textWidth: TextWidth): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (textWidth(cut + segment) >= width) break;
    cut += segment;
  }
  return `${cut}…`;
}

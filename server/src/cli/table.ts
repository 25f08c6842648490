import { printable } from './errors.ts';

/** Aligned columns below their heads. */
export function table(heads: string[], rows: string[][]): string {
  const lines = [heads, ...rows].map((row) => row.map(printable));
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { escapeHtml } from './escape-html.ts';

const folder = new URL('../../../docs/drawings/', import.meta.url);

/** The SVG drawings of the documentation, by file name. */
const drawings = new Map(
  await Promise.all(
    (await readdir(folder)).map(
      async (name): Promise<[string, string]> => [name, await readFile(new URL(name, folder), 'utf8')],
    ),
  ),
);

/**
 * Returns a drawing as inline SVG, so that it has the colors of the page in both themes. The styles in the file apply
 * only where the file is shown on its own, such as in the repository. Returns the text alternative if the file isn't a
 * drawing.
 */
export function drawingOf(href: string, alternative: string): string {
  const text = escapeHtml(alternative);
  const svg = drawings.get(basename(href));
  if (svg === undefined) return `<em>${text}</em>`;
  return svg
    .replace(/<title>.*<\/style>\n/s, '')
    .replace('<svg ', `<svg class="drawing" role="img" aria-label="${text}" `);
}

// This module doesn't use marked-gfm-heading-id and marked-highlight, because they would replace only 15 of its 111
// lines.

import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from './escape-html.ts';
import { highlight } from './highlight.ts';

/** A section of a page. It contains a heading and the content up to the next heading. */
export interface Section {
  /** The anchor of the heading. */
  id: string;
  /** The level of the heading. The page title has level 1. */
  depth: number;
  title: string;
  tokens: Token[];
}

/** Returns a link's URL on the site, or undefined to omit the link. */
type Resolve = (link: string) => string | undefined;

/** Splits the Markdown of a page into sections. The first section contains the title. */
export function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading') {
      const title = textOf(token.tokens ?? []);
      sections.push({ id: toAnchor(title), depth: token.depth, title, tokens: [token] });
    } else {
      sections.at(-1)?.tokens.push(token);
    }
  }
  return sections;
}

/** Renders Markdown tokens as HTML without scripts or styles. */
export function toHtml(tokens: Token[], resolve: Resolve): string {
  return createRenderer(resolve).parser(tokens);
}

/** Returns the visible text of Markdown tokens. */
export function textOf(tokens: Token[]): string {
  return tokens.map(visibleText).join('').replace(/\s+/g, ' ').trim();
}

function visibleText(token: Token): string {
  switch (token.type) {
    case 'html':
    case 'heading':
      return '';
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((row) => `${row.map((cell) => textOf(cell.tokens)).join(' ')} `).join('');
    }
    case 'list':
      return (token as Tokens.List).items.map((item) => `${textOf(item.tokens)} `).join('');
    default:
      if ('tokens' in token && token.tokens !== undefined)
        return `${token.tokens.map(visibleText).join('')}${trailingSpace(token)}`;
      return 'text' in token ? `${token.text}${trailingSpace(token)}` : ' ';
  }
}

function trailingSpace({ type }: Token): string {
  return type === 'paragraph' || type === 'code' ? ' ' : '';
}

/**
 * Returns the anchor of a heading. Uses GitHub's algorithm, so links work on GitHub and on this site. Unlike on GitHub,
 * error codes stay in upper case.
 */
function toAnchor(title: string): string {
  if (/^[A-Z]+(_[A-Z]+)*$/.test(title)) return title;
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function createRenderer(resolve: Resolve): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = toAnchor(textOf(tokens));
        const words = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${words}</h1>\n`;
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${words}</a></h${depth}>\n`;
      },
      code({ text, lang = '' }) {
        // In the first line of a Markdown code block, a caption (such as a file name) can follow the language.
        const [language = '', ...words] = lang.split(' ');
        const caption = words.length === 0 ? '' : `<figcaption>${escapeHtml(words.join(' '))}</figcaption>`;
        // With `tabindex`, users can scroll the code block with the keyboard.
        const code = `<pre tabindex="0"><code>${highlight(text, language)}</code></pre>`;
        return `<figure class="code">${caption}${code}</figure>\n`;
      },
      table({ header, rows }) {
        const row = (cells: Tokens.TableCell[]) =>
          `<tr>${cells.map((cell) => renderCell(cell, this.parser.parseInline(cell.tokens))).join('')}</tr>\n`;
        const table = `<table><thead>${row(header)}</thead><tbody>\n${rows.map(row).join('')}</tbody></table>`;
        return `<div class="table" tabindex="0">${table}</div>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = resolve(href);
        return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`;
      },
      html() {
        return '';
      },
    },
  });
}

function renderCell({ header }: Tokens.TableCell, words: string): string {
  // Renders an empty header cell as `<td>`, because screen readers must not announce it as a header.
  return header && words !== '' ? `<th scope="col">${words}</th>` : `<td>${words}</td>`;
}

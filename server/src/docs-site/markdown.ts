// Measured: marked does the parsing; marked-gfm-heading-id and marked-highlight would replace 15 of the 111 lines.

import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from './escape-html.ts';
import { highlight } from './highlight.ts';

/** A heading, and what stands below it up to the next one. */
export interface Section {
  /** Its anchor. */
  id: string;
  /** 1 for the title of the page. */
  depth: number;
  title: string;
  tokens: Token[];
}

/** Says where a link leads on the site; nowhere where it is undefined. */
type Resolve = (link: string) => string | undefined;

/** A page in its sections; the first one is that of its title. */
export function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading') {
      const title = textOf(token.tokens ?? []);
      sections.push({ id: idOf(title), depth: token.depth, title, tokens: [token] });
    } else {
      sections.at(-1)?.tokens.push(token);
    }
  }
  return sections;
}

/** Tokens as HTML, without a script or a style. */
export function toHtml(tokens: Token[], resolve: Resolve): string {
  return renderer(resolve).parser(tokens);
}

/** What a reader sees of tokens, as plain words. */
export function textOf(tokens: Token[]): string {
  return tokens.map(wordsOf).join('').replace(/\s+/g, ' ').trim();
}

function wordsOf(token: Token): string {
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
        return `${token.tokens.map(wordsOf).join('')}${gapOf(token)}`;
      return 'text' in token ? `${token.text}${gapOf(token)}` : ' ';
  }
}

function gapOf({ type }: Token): string {
  return type === 'paragraph' || type === 'code' ? ' ' : '';
}

/** As GitHub makes anchors, so that a link holds there, too; a code in capitals stays as it is. */
function idOf(title: string): string {
  if (/^[A-Z]+(_[A-Z]+)*$/.test(title)) return title;
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function renderer(resolve: Resolve): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = idOf(textOf(tokens));
        const words = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${words}</h1>\n`;
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${words}</a></h${depth}>\n`;
      },
      code({ text, lang = '' }) {
        // After the language may stand what the code is: a file's name, or where it is run.
        const [language = '', ...words] = lang.split(' ');
        const caption = words.length === 0 ? '' : `<figcaption>${escapeHtml(words.join(' '))}</figcaption>`;
        // To be scrolled with the keyboard, too.
        const code = `<pre tabindex="0"><code>${highlight(text, language)}</code></pre>`;
        return `<figure class="code">${caption}${code}</figure>\n`;
      },
      table({ header, rows }) {
        const row = (cells: Tokens.TableCell[]) =>
          `<tr>${cells.map((cell) => cellOf(cell, this.parser.parseInline(cell.tokens))).join('')}</tr>\n`;
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

function cellOf({ header }: Tokens.TableCell, words: string): string {
  // A cell without words heads nothing.
  return header && words !== '' ? `<th scope="col">${words}</th>` : `<td>${words}</td>`;
}

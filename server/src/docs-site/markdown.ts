// This module doesn't use marked-gfm-heading-id and marked-highlight, because they would replace only 15 of its 111
// lines.

import { createHash } from 'node:crypto';
import { Marked, type Token, type Tokens } from 'marked';
import { drawingOf } from './drawings.ts';
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
  const renderer = createRenderer(resolve);
  return groupTabs(tokens)
    .map((group) => (Array.isArray(group) ? renderTabs(group, renderer) : renderer.parser([group])))
    .join('');
}

/** The start of the caption of a code block that is a tab, such as `tab:TypeScript`. */
const tabPrefix = 'tab:';

/** Groups adjacent code blocks that are tabs. */
function groupTabs(tokens: Token[]): (Token | Tokens.Code[])[] {
  const groups: (Token | Tokens.Code[])[] = [];
  for (const token of tokens) {
    const last = groups.at(-1);
    if (Array.isArray(last) && token.type === 'space') continue;
    const isTab = token.type === 'code' && captionOf(token as Tokens.Code).startsWith(tabPrefix);
    if (!isTab) groups.push(token);
    else if (Array.isArray(last)) last.push(token as Tokens.Code);
    else groups.push([token as Tokens.Code]);
  }
  return groups;
}

/** Renders code blocks as tabs, which work without a script. Without the CSS selector `:has`, all blocks are visible. */
function renderTabs(blocks: Tokens.Code[], renderer: Marked): string {
  // The inputs of a group need a common name that no other group on the page has.
  const name = createHash('sha256').update(JSON.stringify(blocks)).digest('hex').slice(0, 8);
  const labels = blocks.map((block, index) => {
    const label = escapeHtml(captionOf(block).slice(tabPrefix.length));
    const checked = index === 0 ? ' checked' : '';
    return `<label><input type="radio" name="tabs-${name}" value="${label}"${checked}>${label}</label>`;
  });
  const codes = blocks.map((block) => renderer.parser([{ ...block, lang: block.lang?.split(' ')[0] }]));
  return `<div class="tabs"><div role="radiogroup" aria-label="Language">${labels.join('')}</div>${codes.join('')}</div>\n`;
}

/** Returns the caption of a code block, such as a file name. It follows the language in the first line. */
function captionOf({ lang = '' }: Tokens.Code): string {
  return lang.split(' ').slice(1).join(' ');
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
        const [language = '', ...words] = lang.split(' ');
        const caption = words.length === 0 ? '' : `<figcaption>${escapeHtml(words.join(' '))}</figcaption>`;
        // With `tabindex`, users can scroll the code block with the keyboard.
        const code = `<pre tabindex="0"><code>${highlight(text, language)}</code></pre>`;
        return `<figure class="code${language === 'sh' ? ' shell' : ''}">${caption}${code}</figure>\n`;
      },
      blockquote({ tokens }) {
        const words = this.parser.parse(tokens);
        const kind = /^<p>\[!(NOTE|TIP|WARNING)\]\s*/.exec(words);
        if (kind === null) return `<blockquote>${words}</blockquote>\n`;
        const title = { NOTE: 'Note', TIP: 'Tip', WARNING: 'Warning' }[kind[1] as 'NOTE' | 'TIP' | 'WARNING'];
        const rest = words.slice(kind[0].length);
        return `<aside class="callout ${title.toLowerCase()}"><p><b>${title}:</b> ${rest}</aside>\n`;
      },
      image({ href, text }) {
        return drawingOf(href, text);
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

import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../../../docs-site/escape-html.ts';

/*
 * The code that article-html.ts runs in a worker thread. It renders the Markdown of an article as HTML that is safe in a
 * page: raw HTML is escaped, links lead only to web pages and email addresses, and images become their descriptions.
 */

const marked = new Marked({
  // After a tag such as `<code>`, marked declares the text up to the closing tag as HTML.
  walkTokens(token) {
    if (token.type === 'text') token.escaped = false;
  },
  renderer: {
    html({ text }) {
      return escapeHtml(text);
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const isAllowed = /^(https?:\/\/|mailto:)/i.test(href);
      return isAllowed ? `<a href="${escapeHtml(href)}" rel="noreferrer">${words}</a>` : words;
    },
    image({ text }) {
      return escapeHtml(text);
    },
    heading({ tokens, depth }) {
      // The headings of the page have the levels 1 and 2.
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    code({ text }) {
      // With `tabindex`, users can scroll the code block with the keyboard.
      return `<div class="code"><pre tabindex="0" aria-label="Code"><code>${escapeHtml(text)}</code></pre></div>\n`;
    },
    table({ header, rows }) {
      const row = (cells: Tokens.TableCell[], name: 'th' | 'td') =>
        `<tr>${cells.map(({ tokens }) => `<${name}>${this.parser.parseInline(tokens)}</${name}>`).join('')}</tr>`;
      const isHeaderEmpty = header.every(({ text }) => text === '');
      const table = `<table>${isHeaderEmpty ? '' : row(header, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`;
      return `<div class="scroll" tabindex="0" role="region" aria-label="Table">${table}</div>\n`;
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ ';
    },
  },
});

/** Renders Markdown as HTML. Returns undefined if the elements are nested too deeply for the parser. */
export default function renderMarkdown(markdown: string): string | undefined {
  try {
    return marked.parse(markdown, { async: false });
  } catch {
    return undefined;
  }
}

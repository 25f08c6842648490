import bash from '@speed-highlight/core/languages/bash.js';
import js from '@speed-highlight/core/languages/js.js';
import json from '@speed-highlight/core/languages/json.js';
import py from '@speed-highlight/core/languages/py.js';
import ts from '@speed-highlight/core/languages/ts.js';
import { type ShjLanguageData, tokenizeWith } from '@speed-highlight/core/tokenize';
import { escapeHtml } from './escape-html.ts';

/** Keeps a URL in one text node, because the script of the page inserts the origin of the server into URLs. */
const url = { match: /https?:\/\/[^\s'"`]+/g };

/** The languages by the names that the code blocks of the documentation use. */
const languages = new Map<string, ShjLanguageData>([
  ['sh', [url, ...bash]],
  ['js', js],
  ['json', json],
  ['python', py],
  ['ts', ts],
]);

/** Returns code as HTML with a CSS class for each type of token. If the language is unknown, only escapes the code. */
export function highlight(code: string, languageName: string): string {
  const language = languages.get(languageName);
  if (language === undefined) return escapeHtml(code);
  let html = '';
  const append = (text: string, type?: string) => {
    // Operators have no style of their own.
    html +=
      type === undefined || type === 'oper'
        ? escapeHtml(text)
        : `<span class="token-${type}">${escapeHtml(text)}</span>`;
  };
  // Template strings contain expressions in JavaScript.
  tokenizeWith(code, language, append, { languages: { js } });
  return html;
}

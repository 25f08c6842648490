// Measured: highlight.js does the work; these 24 lines leave out its types, which bring those of browsers with them.

import { createRequire } from 'node:module';
import { escapeHtml } from './escape-html.ts';

/** What is used of highlight.js. Its own types would bring those of browsers with them, into all of the server. */
interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string }): { value: string };
}

const require = createRequire(import.meta.url);
const highlighter: Highlighter = require('highlight.js/lib/core');
highlighter.registerLanguage('sh', require('highlight.js/lib/languages/bash'));
highlighter.registerLanguage('json', require('highlight.js/lib/languages/json'));
highlighter.registerLanguage('python', require('highlight.js/lib/languages/python'));
// With its aliases `js` and `mjs`.
highlighter.registerLanguage('javascript', require('highlight.js/lib/languages/javascript'));
highlighter.registerLanguage('typescript', require('highlight.js/lib/languages/typescript'));

/** Code as HTML, its parts in classes of highlight.js; as it is in a language that isn't known. */
export function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code);
  return highlighter.highlight(code, { language }).value;
}

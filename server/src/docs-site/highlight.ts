// This module declares its own types for highlight.js, because the package's types would add browser types to the whole
// server.

import { createRequire } from 'node:module';
import { escapeHtml } from './escape-html.ts';

/** The functions of highlight.js that the server calls. */
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
// Adding `javascript` also adds its aliases `js` and `mjs`.
highlighter.registerLanguage('javascript', require('highlight.js/lib/languages/javascript'));
highlighter.registerLanguage('typescript', require('highlight.js/lib/languages/typescript'));

/** Returns code as HTML with the CSS classes of highlight.js. If the language is unknown, only escapes the code. */
export function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code);
  return highlighter.highlight(code, { language }).value;
}

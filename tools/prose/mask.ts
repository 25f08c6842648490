import jsTokens, { type Token } from 'js-tokens';

/**
 * Returns a source file with only its prose, and with spaces instead of everything else. The lines and columns of the
 * prose don't change. Prose is the text of comments, and of strings with at least two words. Code between backticks
 * isn't prose.
 */
export function maskCode(source: string, extension: string): string {
  return extension === '.ts' || extension === '.js' ? maskScript(source) : maskExcept(source, commentsIn(source));
}

function maskScript(source: string): string {
  let masked = '';
  for (const token of jsTokens(source)) masked += isProse(token) ? withoutMarks(token.value) : blank(token.value);
  return masked;
}

const comments = new Set<Token['type']>(['SingleLineComment', 'MultiLineComment']);
const strings = new Set<Token['type']>([
  'StringLiteral',
  'NoSubstitutionTemplate',
  'TemplateHead',
  'TemplateMiddle',
  'TemplateTail',
]);

const isProse = ({ type, value }: Token) => comments.has(type) || (strings.has(type) && /\w\s+\w/.test(value));

/** Finds the comments in a SQL, CSS, YAML or shell file. */
const commentsIn = (source: string) => source.matchAll(/--[^\n]*|\/\*[\s\S]*?\*\/|(?<=^|\s)#[^\n]*/g);

function maskExcept(source: string, kept: Iterable<RegExpExecArray>): string {
  let masked = '';
  for (const { 0: text, index } of kept) masked += blank(source.slice(masked.length, index)) + withoutMarks(text);
  return masked + blank(source.slice(masked.length));
}

/** Replaces comment marks, quotes and code between backticks with spaces. */
function withoutMarks(text: string): string {
  return text.replace(/^\s*(?:\/\/|\/\*\*?|\*\/|\*|--|#)|\*\/$|^[`'"]|[`'"]$|`[^`\n]*`|\$\{$|^\}/gm, blank);
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** The syntax of literal values in a programming language. */
interface Syntax {
  text(value: string): string;
  name(name: string): string;
  /** Returns the source code of a number, a boolean or null. */
  constant(value: unknown): string;
  indent: string;
  /** The space inside the braces of an object on one line. */
  padding: ' ' | '';
  /** The character after the last element of a multi-line object or array. */
  last: ',' | '';
}

const typeScript: Syntax = {
  text: (value) => (value.includes("'") ? JSON.stringify(value) : `'${value}'`),
  name: (name) => name,
  constant: String,
  indent: '  ',
  padding: ' ',
  last: ',',
};

const json: Syntax = { ...typeScript, text: JSON.stringify, name: JSON.stringify, last: '' };

const pythonConstants = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
]);

const python: Syntax = {
  text: JSON.stringify,
  name: JSON.stringify,
  constant: (value) => pythonConstants.get(value) ?? String(value),
  indent: '    ',
  padding: '',
  last: ',',
};

/**
 * Formats a value as TypeScript source code. A value of at most `width` characters is on one line. In a longer value,
 * each field or element is on its own line.
 */
export function literal(value: unknown, width = 100): string {
  return written(value, width, typeScript);
}

/** Formats a value as JSON, with the same line breaks as `literal`. */
export function jsonLiteral(value: unknown, width: number): string {
  return written(value, width, json);
}

/** Formats a value as Python source code, with the same line breaks as `literal`. */
export function pythonLiteral(value: unknown, width = 100): string {
  return written(value, width, python);
}

function written(value: unknown, width: number, syntax: Syntax): string {
  if (typeof value === 'string') return syntax.text(value);
  if (typeof value !== 'object' || value === null) return syntax.constant(value);
  const isArray = Array.isArray(value);
  const parts = (within: number) =>
    isArray
      ? value.map((element) => written(element, within, syntax))
      : Object.entries(value).map(([name, inner]) => `${syntax.name(name)}: ${written(inner, within, syntax)}`);
  const [open, close, space] = isArray ? ['[', ']', ''] : ['{', '}', syntax.padding];
  const line = open + space + parts(Number.POSITIVE_INFINITY).join(', ') + space + close;
  if (line.length <= width) return line;
  const { indent } = syntax;
  const lines = parts(width - indent.length).map((part) => `${indent}${part.replaceAll('\n', `\n${indent}`)}`);
  return `${open}\n${lines.join(',\n')}${syntax.last}\n${close}`;
}

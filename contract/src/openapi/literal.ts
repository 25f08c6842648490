/** The syntax of literal values in a programming language. */
interface Syntax {
  text(value: string): string;
  name(name: string): string;
  /** The character after the last element of a multi-line object or array. */
  last: ',' | '';
}

const typeScript: Syntax = {
  text: (value) => (value.includes("'") ? JSON.stringify(value) : `'${value}'`),
  name: (name) => name,
  last: ',',
};

const json: Syntax = { text: (value) => JSON.stringify(value), name: (name) => JSON.stringify(name), last: '' };

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

function written(value: unknown, width: number, syntax: Syntax): string {
  if (typeof value === 'string') return syntax.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const isArray = Array.isArray(value);
  const parts = (within: number) =>
    isArray
      ? value.map((element) => written(element, within, syntax))
      : Object.entries(value).map(([name, inner]) => `${syntax.name(name)}: ${written(inner, within, syntax)}`);
  const [open, close, space] = isArray ? ['[', ']', ''] : ['{', '}', ' '];
  const line = open + space + parts(Number.POSITIVE_INFINITY).join(', ') + space + close;
  if (line.length <= width) return line;
  const lines = parts(width - 2).map((part) => `  ${part.replaceAll('\n', '\n  ')}`);
  return `${open}\n${lines.join(',\n')}${syntax.last}\n${close}`;
}

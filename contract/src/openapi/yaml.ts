/** A JSON value as YAML 1.2. Text of several lines stands as a block, all other text as JSON, which is YAML too. */
export function toYaml(value: unknown): string {
  return `${write(value, '').trimStart()}\n`;
}

/** What follows a `:` or a `-`, from the space or the line break on. */
function write(value: unknown, indent: string): string {
  if (typeof value === 'string' && isBlock(value)) {
    return ` |-\n${value
      .split('\n')
      .map((line) => (line === '' ? '' : indent + line))
      .join('\n')}`;
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.map((each) => `\n${indent}-${write(each, `${indent}  `)}`).join('');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return entries.map(([name, inner]) => `\n${indent}${JSON.stringify(name)}:${write(inner, `${indent}  `)}`).join('');
  }
  return ` ${JSON.stringify(value)}`;
}

/** Blocks lose what is white at their ends, and may hold no control characters. */
function isBlock(text: string): boolean {
  return text.includes('\n') && text === text.trim() && !/[^\n\x20-\x7e\u00a0-\ud7ff]/.test(text);
}

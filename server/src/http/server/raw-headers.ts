import type { IncomingMessage } from 'node:http';

/**
 * Returns every value of a request header. Node keeps only the first value of some repeated headers and joins the
 * values of others.
 * @param name in lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

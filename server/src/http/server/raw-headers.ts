import type { IncomingMessage } from 'node:http';

/**
 * Returns all values of a request header. `request.headers` isn't sufficient, because for a repeated header it contains
 * only the first value or one joined value.
 * @param name the header name in lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] ?? '';
    if (header.length === name.length && header.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

import type { IncomingMessage } from 'node:http';

/**
 * Every value that a request carries of a header. Node keeps the first of some that are sent twice and joins others.
 * @param name in lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}

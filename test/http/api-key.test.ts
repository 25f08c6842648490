import type { IncomingMessage } from 'node:http';
import { keyOf } from '@itsm-api/server/http/auth/api-key-header.ts';
import { describe, expect, it } from 'vitest';

/** Reads the API key from raw request headers. rules/keys.test.ts tests authentication at every endpoint. */
const read = (...rawHeaders: string[]) => keyOf({ rawHeaders } as IncomingMessage);

describe('the key of a request', () => {
  it.each([
    ['a bearer token', ['Authorization', 'Bearer one']],
    ['a bearer token in any case', ['authorization', 'bEARER one']],
    ['a bearer token after more than one space', ['Authorization', 'Bearer   one']],
    ['X-API-Key', ['X-API-Key', 'one']],
    ['both headers', ['x-api-key', 'one', 'Authorization', 'Bearer one']],
    ['X-API-Key next to another scheme', ['Authorization', 'Basic YTpi', 'X-API-Key', 'one']],
    ['a repeated header', ['X-API-Key', 'one', 'X-API-KEY', 'one']],
  ])('reads the API key from %s', (_, headers) => {
    expect(read('Host', 'x', ...headers)).toBe('one');
  });

  const missing = 'The API key is missing. Send `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`.';

  it.each([
    ['no key', [], missing],
    ['another scheme alone', ['Authorization', 'Basic one'], missing],
    ['another scheme before Bearer', ['Authorization', 'Basic Bearer one'], missing],
    ['Bearer without a space', ['Authorization', 'Bearerone'], missing],
    [
      'two keys',
      ['Authorization', 'Bearer one', 'X-API-Key', 'two'],
      '`Authorization` and `X-API-Key` contain different API keys. Send the key in one header.',
    ],
    [
      'two X-API-Key headers',
      ['X-API-Key', 'one', 'x-api-key', 'two'],
      'The request has several `X-API-Key` headers with different values. Send one.',
    ],
    [
      'two schemes',
      ['Authorization', 'Bearer one', 'Authorization', 'Basic one'],
      'The request has several `Authorization` headers with different values. Send one.',
    ],
  ])('throws INVALID_API_KEY for a request with %s', (_, headers, message) => {
    expect(() => read(...headers)).toThrow(expect.objectContaining({ code: 'INVALID_API_KEY', message }));
  });
});

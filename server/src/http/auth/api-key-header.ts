import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import { headerValues } from '../server/raw-headers.ts';

/**
 * Returns the API key from `X-API-Key` or `Authorization: Bearer` (spec §5.1).
 * @throws ApiError INVALID_API_KEY if the request has no key, or if its headers contain different keys
 */
export function keyOf(request: IncomingMessage): string {
  const authorization = singleValue(request, 'Authorization');
  const apiKey = singleValue(request, 'X-API-Key');
  const bearer = authorization?.match(/^bearer +(.*)/i)?.[1];
  if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) {
    throw invalidKey('`Authorization` and `X-API-Key` contain different API keys. Send the key in one header.');
  }
  const key = apiKey ?? bearer;
  if (key === undefined) {
    throw invalidKey('The API key is missing. Send `Authorization: Bearer <API_KEY>` or `X-API-Key: <API_KEY>`.');
  }
  return key;
}

export function invalidKey(message: string): ApiError {
  return new ApiError('INVALID_API_KEY', message);
}

/**
 * Returns the value of a header. Rejects a repeated header with different values, because a proxy might check one value
 * and the server another.
 */
function singleValue(request: IncomingMessage, name: string): string | undefined {
  const values = new Set(headerValues(request, name.toLowerCase()));
  if (values.size > 1) throw invalidKey(`The request has several \`${name}\` headers with different values. Send one.`);
  return values.values().next().value;
}

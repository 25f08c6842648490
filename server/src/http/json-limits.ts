import { requestLimits } from '@itsm-api/contract';
import { ApiError } from '../shared/errors.ts';

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Rejects JSON with too many values or nested levels before the server parses it. For 500,000 values, parsing and
 * validation take much longer than this scan (docs/decisions/api-conventions.md). The scan doesn't detect invalid JSON,
 * because the parser rejects it later.
 * @throws ApiError PAYLOAD_TOO_LARGE
 */
export function checkJsonSize(text: string): void {
  // Counts one value for the root, one for each array or object that isn't empty, and one for each comma.
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = findEndOfString(text, at);
        break;
      case comma:
        values++;
        break;
      case openArray:
      case openObject:
        depth++;
        if (!isEmpty(text, at)) values++;
        break;
      case closeArray:
      case closeObject:
        depth--;
    }
    if (values > requestLimits.jsonValues) {
      throw new ApiError(
        'PAYLOAD_TOO_LARGE',
        `The body has more than ${requestLimits.jsonValues} values. Send less data in each request.`,
      );
    }
    if (depth > requestLimits.jsonDepth) {
      throw new ApiError(
        'PAYLOAD_TOO_LARGE',
        `The body has more than ${requestLimits.jsonDepth} nested levels. Use fewer levels.`,
      );
    }
  }
}

/**
 * Returns the index of the quote that ends the string at `start`. Returns the length of the text if the string has no
 * end.
 */
function findEndOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
  } while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/**
 * Returns whether the quote at the index `at` is escaped. A quote is escaped if an odd number of backslashes precedes
 * it.
 */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
}

/** Returns whether the array or object at `start` is empty. An empty array or object may contain white space. */
function isEmpty(text: string, start: number): boolean {
  let at = start + 1;
  while (isSpace(text.charCodeAt(at))) at++;
  const next = text.charCodeAt(at);
  return next === closeArray || next === closeObject;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

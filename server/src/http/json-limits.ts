import { requestLimits } from '@itsm-api/contract';
import { ApiError } from '../shared/errors.ts';

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Refuses JSON that holds too many values or is nested too deep, before anything is built of it: a parser and a schema
 * take far longer over half a million values than this takes over the text (docs/decisions/api-conventions.md).
 * It stops where a limit is passed. Text that is no JSON is left to the parser.
 * @throws ApiError PAYLOAD_TOO_LARGE
 */
export function checkJsonSize(text: string): void {
  // The first value of all; then one for the first of every array and object, and one after each comma.
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
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

/** Where the string that begins at `start` has its closing quote; the end of the text when it has none. */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
  } while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before--;
  return (at - before) % 2 === 0;
}

/** Whether the array or object that begins at `start` ends with nothing but white space in it. */
function isEmpty(text: string, start: number): boolean {
  let at = start + 1;
  while (isSpace(text.charCodeAt(at))) at++;
  const next = text.charCodeAt(at);
  return next === closeArray || next === closeObject;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09;
}

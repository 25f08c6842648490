import type { IncomingHttpHeaders } from 'node:http';
import { hasBody } from '@itsm-api/contract';
import type { FastifyInstance } from 'fastify';
import secureJson from 'secure-json-parse';
import { ApiError } from '../shared/errors.ts';
import { checkJsonSize } from './json-limits.ts';
import { allowLongArrival } from './server/arrival-timeout.ts';

/**
 * Adds the parser for request bodies. The parser accepts only JSON in UTF-8. For an empty body, it accepts any content
 * type and returns `undefined`. If the contract requires a body, a hook rejects requests without one.
 */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();

  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    if (!isJson(request.headers['content-type'])) {
      return done(
        new ApiError(
          'UNSUPPORTED_MEDIA_TYPE',
          'The body is not declared as JSON in UTF-8. Send it with `Content-Type: application/json`.',
        ),
      );
    }
    try {
      done(null, parse(body));
    } catch (error) {
      done(error as Error);
    }
  });

  app.addHook('preParsing', ({ headers, raw, routeOptions }, _reply, _payload, done) => {
    if (routeOptions.config.tsRestRoute?.metadata.binary === 'request') allowLongArrival(raw);
    const encoding = headers['content-encoding'] ?? '';
    const isEncoded = !isEmpty(headers) && !/^(identity)?$/i.test(encoding.trim());
    done(
      isEncoded
        ? new ApiError('UNSUPPORTED_MEDIA_TYPE', '`Content-Encoding` is not supported. Send the body uncompressed.')
        : undefined,
    );
  });

  // Ignores the content type of a request without a body, so that a malformed `Content-Type` causes no error.
  app.addHook('onRequest', ({ headers }, _reply, done) => {
    if (isEmpty(headers)) headers['content-type'] = undefined;
    done();
  });

  app.addHook('preValidation', (request, _reply, done) => {
    const route = request.routeOptions.config.tsRestRoute;
    const isMissing = route && hasBody(route) && request.body === undefined;
    done(isMissing ? new ApiError('INVALID_JSON', 'The body is empty. Send a JSON object.') : undefined);
  });
}

function isEmpty(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Parses a request body as JSON in UTF-8. @throws ApiError INVALID_JSON or PAYLOAD_TOO_LARGE */
function parse(body: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    checkJsonSize(text);
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (reason.includes('forbidden prototype property')) {
      throw new ApiError(
        'INVALID_JSON',
        'The body has a field `__proto__`, or a field `constructor` that contains `prototype`. Remove this field.',
      );
    }
    throw new ApiError('INVALID_JSON', `The body is not valid JSON. Correct this error: ${reason}`);
  }
}

/**
 * Returns the charset that a `Content-Type` parameter specifies, or undefined for other parameters. A regular
 * expression would be slow, because it would backtrack over white space.
 */
function charsetOf(parameter: string): string | undefined {
  const at = parameter.indexOf('=');
  if (parameter.slice(0, Math.max(at, 0)).trim() !== 'charset') return undefined;
  const value = parameter.slice(at + 1).trim();
  return value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

function isJson(contentType = ''): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map(charsetOf).find(Boolean);
  const mediaType = type.trim();
  const isJsonType = mediaType === 'application/json' || /^application\/[\w.-]+\+json$/.test(mediaType);
  return isJsonType && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
}

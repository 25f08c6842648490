import { pathPrefix } from '@itsm-api/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { ApiError } from '../shared/errors.ts';
import { nearestName } from '../shared/suggestion.ts';

/**
 * Answers what no route serves, before its body is read: 404, and which methods the path has, in `Allow`
 * (docs/decisions/errors.md). To be called before any route is registered.
 */
export function addNotFound(app: FastifyInstance): void {
  const router = findMyWay();
  const methods = new Set<HTTPMethod>();
  const patterns = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    // That of CORS, and what answers the rest below a path, serve no path of their own.
    if (url.endsWith('*')) return;
    patterns.add(url);
    for (const each of [method].flat() as HTTPMethod[]) {
      methods.add(each);
      router.on(each, url, () => undefined);
    }
  });
  const methodsOf = (path: string) => [...methods].filter((method) => router.find(method, path) !== null);

  app.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?');
    const { url: route = '' } = request.routeOptions;
    // `/tickets/` would be a ticket without an id.
    const endsWrong = path.endsWith('/') && !route.endsWith('/') && route !== '*';
    if (!request.is404 && !endsWrong) return done();

    const withoutSlash = withoutSlashes(path);
    if (withoutSlash !== path && methodsOf(withoutSlash).length > 0) {
      return done(unknown(`Paths have no slash at the end. Use ${withoutSlash}.`));
    }
    // Whoever answers the rest says so.
    if (route.endsWith('/*')) return done();
    const allowed = methodsOf(path);
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    done(unknown(describe(request, allowed, nearestPath(path, patterns))));
  });
}

/** In one pass: a pattern is tried from each slash anew, wherever the path ends. */
function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** Suggests a path of the API for one that is misspelled or lacks the prefix; parameters are those of the request. */
function nearestPath(path: string, patterns: Iterable<string>): string | undefined {
  const withoutPrefix = (full: string) => (full.startsWith(pathPrefix) ? full.slice(pathPrefix.length) : full);
  const parts = withoutPrefix(path).split('/');
  const known = [...patterns]
    .filter((pattern) => pattern.startsWith(pathPrefix))
    .map((pattern) => withoutPrefix(pattern).split('/'))
    .filter(({ length }) => length === parts.length)
    .map((pattern) => pattern.map((part, index) => (part.startsWith(':') ? parts[index] : part)).join('/'));
  const nearest = nearestName(parts.join('/'), known);
  return nearest && `${pathPrefix}${nearest}`;
}

function describe({ method }: FastifyRequest, allowed: string[], nearest: string | undefined): string {
  if (allowed.length > 0)
    return `This path doesn't support ${method}. Use one of these methods: ${allowed.join(', ')}.`;
  return nearest !== undefined
    ? `Path not found. Did you mean ${nearest}?`
    : `Path not found. API paths start with ${pathPrefix}. See /docs for all paths.`;
}

function unknown(message: string): ApiError {
  return new ApiError('NOT_FOUND', message);
}

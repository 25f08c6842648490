import { pathPrefix } from '@itsm-api/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { ApiError } from '../shared/errors.ts';
import { nearestName } from '../shared/suggestion.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends the page for browsers that request an unknown page. The documentation site sets it. */
    sendNotFoundPage?(reply: FastifyReply): Promise<void>;
  }
}

/**
 * Adds a hook that returns 404 if a request matches no route. The hook runs before the server reads the body. The
 * response header `Allow` lists the methods that the path supports (docs/decisions/errors.md). Call this function
 * before you register routes.
 */
export function addNotFound(app: FastifyInstance): void {
  const router = findMyWay();
  const methods = new Set<HTTPMethod>();
  const patterns = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    // Ignores the CORS route and the catch-all routes, because they match any path.
    if (url.endsWith('*')) return;
    patterns.add(url);
    for (const name of [method].flat() as HTTPMethod[]) {
      methods.add(name);
      router.on(name, url, () => undefined);
    }
  });
  const findMethods = (path: string) => [...methods].filter((method) => router.find(method, path) !== null);

  app.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?');
    const { url: route = '' } = request.routeOptions;
    // Without this check, `/tickets/` would match the route of a single ticket, with an empty id.
    const hasTrailingSlash = path.endsWith('/') && !route.endsWith('/') && route !== '*';
    if (!request.is404 && !hasTrailingSlash) return done();

    const trimmedPath = removeTrailingSlashes(path);
    if (trimmedPath !== path && findMethods(trimmedPath).length > 0) {
      return done(notFound(`This path ends with a slash. Use ${trimmedPath}.`));
    }
    // Catch-all routes return their own 404.
    if (route.endsWith('/*')) return done();
    if (app.sendNotFoundPage !== undefined && isForPerson(request, path)) {
      void app.sendNotFoundPage(reply).catch(done);
      return;
    }
    const allowed = findMethods(path);
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    done(notFound(describe(request, allowed, nearestPath(path, patterns))));
  });
}

/** Returns true if a browser requested a page, not a path of the API. */
function isForPerson({ method, headers }: FastifyRequest, path: string): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true && !path.startsWith('/api/');
}

/** Removes all slashes at the end of a path. A regular expression would be slow, because it would backtrack. */
function removeTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/**
 * Returns the API path that is most similar to a requested path with a missing prefix or a misspelled name. Keeps the
 * path parameters from the request.
 */
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

function notFound(message: string): ApiError {
  return new ApiError('NOT_FOUND', message);
}

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiErrorOf, type ErrorSources } from '../http/error-handler.ts';
import { attachmentDisposition } from '../shared/content/content-disposition.ts';
import type { PageResponse } from './framework/page.ts';
import { toPageError } from './framework/page-errors.ts';
import type { RequestContext } from './framework/request-context.ts';
import { pages } from './pages.ts';
import { html } from './ui/html.ts';
import { renderLayout } from './ui/layout.ts';

interface ResponseTarget {
  visit?: RequestContext | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Sends a page, a file or a redirect. */
export function sendResponse(response: PageResponse, { visit, request, reply }: ResponseTarget): FastifyReply {
  if ('redirect' in response) return reply.redirect(response.redirect, 303);
  if ('file' in response) {
    const { name, type, content, size } = response.file;
    reply.header('content-disposition', attachmentDisposition(name)).type(type);
    reply.header('content-security-policy', 'sandbox');
    if (size !== undefined) reply.header('content-length', size);
    if (!(content instanceof Readable)) return reply.send(content);
    reply.raw.once('close', () => content.destroy());
    // For HEAD requests, sends an empty stream, so the server doesn't read the file.
    return reply.send(request.method === 'HEAD' ? Readable.from([]) : content);
  }
  return reply.type('text/html; charset=utf-8').send(renderLayout({ ...response, pages, url: request.url, visit }));
}

interface ErrorTarget {
  request: FastifyRequest;
  reply: FastifyReply;
  errors: ErrorSources;
}

/**
 * Sends an error page. A 404 response must not reveal whether a resource exists in another workspace, so the page
 * contains no data about the user or the path.
 */
export function sendError(thrown: unknown, { request, reply, errors }: ErrorTarget): FastifyReply {
  const { status, message, retryAfterSeconds } = toPageError(thrown, request) ?? apiErrorOf(thrown, request, errors);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  const title = titles[status] ?? (status >= 500 ? 'Something went wrong' : 'Invalid request');
  const body = html`<p>${message}</p><p><a class="button plain" href="/developer">Go to the developer area</a></p>`;
  return sendResponse({ title, body }, { request, reply: reply.code(status) });
}

const titles: Record<number, string> = {
  403: 'Access denied',
  404: 'Page not found',
  413: 'Form too large',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
};

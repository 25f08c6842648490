import { parse as parseQuery } from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import csrfProtection from '@fastify/csrf-protection';
import formBody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import { requestLimits } from '@itsm-api/contract';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AccountStore } from '../auth/accounts/account.ts';
import type { Settings } from '../config/env.ts';
import { isLocalRequest } from '../config/is-local-only.ts';
import type { TenantClient } from '../database/client/tenant-client.ts';
import type { ErrorSources } from '../http/error-handler.ts';
import { allowLongArrival } from '../http/server/arrival-timeout.ts';
import { allowSlowDownload } from '../http/server/write-timeout.ts';
import type { Services } from '../resources/shared/context.ts';
import { onceClosed } from '../resources/tickets/attachments/file-transfer.ts';
import { ApiError, formatSeconds } from '../shared/errors.ts';
import { TenantLimitExceeded, type TenantLimiter } from '../shared/limiters/tenant-limiter.ts';
import type { TransferLimiter } from '../shared/limiters/transfer-limiter.ts';
import type { TenantId } from '../shared/tenant-id.ts';
import {
  addCookies,
  createBrowserCookies,
  findCurrentSession,
  findFlash,
  tryConsumeFlash,
} from './framework/cookies.ts';
import {
  findForm,
  handleForm,
  type ReceivedForm,
  renderRejectedForm,
  type Submission,
  storeFormFile,
} from './framework/handle-form.ts';
import { findNewAddress } from './framework/moved-pages.ts';
import type { AnyPage, PageResponse, UploadedFile } from './framework/page.ts';
import { assertRole, forbiddenError, limitsOf, unsupportedFormError, uploadLimits } from './framework/page-errors.ts';
import { parsePageRequest } from './framework/parse-request.ts';
import { findRedirectUrl, findSite, isFromSite } from './framework/public-origin.ts';
import type { RequestContext, SignedIn, UserContext } from './framework/request-context.ts';
import { addStaticFiles } from './framework/static-files.ts';
import { overviewPath } from './pages/overview/overview-page.ts';
import { pages } from './pages.ts';
import { sendError, sendResponse } from './send-response.ts';
import { createTimeFormatter } from './ui/format-time.ts';

export interface AreaOptions extends ErrorSources {
  accounts: AccountStore;
  /** Returns a database client for a workspace's data. The client uses the database role of API requests. */
  dataOf(tenantId: TenantId): TenantClient;
  services: Services;
  settings: Pick<Settings, 'HOST' | 'PUBLIC_URL' | 'TRUST_PROXY' | 'RATE_LIMIT_PAGES' | 'DOWNLOAD_IDLE_SECONDS'>;
  tenantLimiter: TenantLimiter;
  transfers: TransferLimiter;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The context of the request. Undefined until the server has looked up the session. */
    visit: RequestContext | undefined;
    /** Whether the server has parsed the whole body. */
    isBodyRead: boolean;
  }
}

/**
 * Registers the routes of the developer area (docs/decisions/developer-area.md). All routes share the same handlers,
 * which check the session, the role and the CSRF token. The server redirects visitors without a session to the sign-in
 * page. For a resource in another workspace, it returns the same 404 page as for a missing resource.
 */
export async function addDeveloperArea(app: FastifyInstance, options: AreaOptions): Promise<void> {
  const { services, settings } = options;
  await addStaticFiles(app);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // `querystring.parse` ignores all fields after the first 1000, but no form in the developer area has that many.
    await scope.register(formBody, { bodyLimit: requestLimits.bodyBytes, parser: (text) => parseQuery(text) });
    await scope.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: uploadLimits,
      // Keeps the name and the type of the file, which the option `keyValues` would drop.
      async onFile(part) {
        const { filename: name = '', mimetype: type } = part;
        Object.assign(part, { value: { name, type, content: await part.toBuffer() } satisfies UploadedFile });
      },
    });
    const secure = settings.PUBLIC_URL?.startsWith('https:') ?? false;
    const keys = services.secretCipher.deriveKeys('itsm encrypted cookies');
    await addCookies(scope, { keys, secure });
    await scope.register(rateLimit, {
      max: settings.RATE_LIMIT_PAGES,
      timeWindow: 60_000,
      cache: 50_000,
      keyGenerator: ({ session }) => session.token ?? '',
      // Doesn't count requests without a session, because sign-in attempts have their own limits.
      allowList: (_request, token) => token === '',
      errorResponseBuilder: (_request, { ttl }) => sessionLimitError(Math.ceil(ttl / 1000)),
    });
    // This mode stores the CSRF secret in a property of the object `request.session`.
    await scope.register(csrfProtection, { sessionPlugin: '@fastify/session' });
    scope.addHook('onRequest', (request, reply, done) => {
      reply.headers(pageHeaders);
      const to = request.method === 'GET' ? findNewAddress(request.url) : undefined;
      if (to === undefined) done();
      else reply.redirect(to, 301);
    });
    scope.decorateRequest('visit');
    scope.decorateRequest('isBodyRead', false);
    // Fastify rejects malformed paths before the `onRequest` hook runs, so the error handler sets the headers again.
    scope.setErrorHandler((thrown, request, reply) =>
      sendError(thrown, { request, reply: reply.headers(pageHeaders), errors: options }),
    );
    for (const page of pages) addPage(scope, page, options);
    scope.get('/developer', (_request, reply) => reply.redirect(overviewPath, 303));
    scope.get('/developer/*', async () => {
      throw new ApiError('NOT_FOUND', 'This page does not exist. Check the address.');
    });
  });
}

function sessionLimitError(retryAfterSeconds: number): ApiError {
  const message = `Too many requests. Try again in ${formatSeconds(retryAfterSeconds)}.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });
}

/** Maximum body size in bytes for forms that need no session, such as the sign-in form. */
const maxPublicFormBytes = 16 * 1024;

/**
 * The headers of all pages. The content security policy allows only resources and form targets on this host. It forbids
 * inline scripts, inline styles and frames.
 */
const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  // With `no-referrer`, browsers would send `Origin: null` with forms.
  'referrer-policy': 'same-origin',
};

function addPage(scope: FastifyInstance, page: AnyPage, options: AreaOptions): void {
  scope.get(page.path, async (request, reply) => {
    const to = findRedirectUrl(request, options.settings.PUBLIC_URL);
    if (to !== undefined) return reply.redirect(to, 303);
    const visit = await createRequestContext(request, reply, options);
    if (page.roles !== 'everyone' && visit.user === undefined) return reply.redirect(getSignInUrl(request.url), 303);
    request.visit = visit;
    const response = await runLimited(visit, async () => {
      assertRole(page.roles, visit);
      return renderPage(page, { visit, request });
    });
    return sendResponse(response, { visit, request, reply });
  });
  if (page.forms === undefined) return;
  // Checks the session and the role before the server parses the body, because bodies of unauthorized requests could
  // fill the memory.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = await createRequestContext(request, reply, options);
    if (!isFromSite(request, visit.site))
      throw forbiddenError('This form was sent from another site. Open the page in the developer area and try again.');
    if (page.roles !== 'everyone' && visit.user === undefined) {
      return reply.redirect(getSignInUrl(getPath(request)), 303);
    }
    const { form } = findForm(page, request);
    assertRole(form.roles ?? page.roles, visit);
    if (form.upload === undefined) assertNoFile(request);
    if (form.upload === 'attachment' && visit.user !== undefined) {
      // The form parser keeps the file in memory, because the size of the file isn't known before its end.
      onceClosed({ request, reply }, options.transfers.acquire(visit.user.account.tenantId, 'uploads'));
      allowLongArrival(request.raw);
    }
    request.visit = visit;
  };
  const preHandler = [markBodyRead, scope.csrfProtection];
  const limit = page.roles === 'everyone' && { bodyLimit: maxPublicFormBytes };
  const config = {
    multipartOptions: { limits: limitsOf(page, options.services.attachmentLimits) },
  } as FastifyContextConfig;
  scope.post(page.path, { onRequest, preHandler, ...limit, config }, async (request, reply) => {
    const visit = request.visit as RequestContext;
    const runAuthorized = (handle: (submission: Submission) => Promise<ReceivedForm>) =>
      runLimited(visit, async () => {
        const submission = { visit, request, errors: options };
        if (visit.user === undefined) return handle(submission);
        // Reloads the user, because the session may have ended or the role may have changed while the server received
        // the body.
        const user = await (visit as UserContext).reloadUser();
        if (user === undefined) return { response: { redirect: getSignInUrl(getPath(request)) }, status: 303 };
        const reloaded = { ...visit, user } as RequestContext;
        assertRole(findForm(page, request).form.roles ?? page.roles, reloaded);
        return handle({ ...submission, visit: reloaded });
      });
    const stored = await storeFormFile(page, { visit, request, errors: options }).then(
      (file) => ({ file }),
      (error: unknown) => ({ error }),
    );
    const { response, status, retryAfterSeconds } = await runAuthorized((submission) =>
      'error' in stored
        ? renderRejectedForm(page, submission, stored.error)
        : handleForm(page, submission, stored.file),
    ).catch(async (error: unknown) => {
      if (!(error instanceof TenantLimitExceeded)) throw error;
      // Waits a second and then renders the form again with the typed values.
      await sleep(1000);
      return runAuthorized((submission) => renderRejectedForm(page, submission, error));
    });
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
    return sendResponse(response, { visit, request, reply: reply.code(status) });
  });
}

interface PageInput {
  visit: RequestContext;
  request: FastifyRequest;
}

/**
 * Renders a page. If the page shows a flash (a value to show once), deletes the flash only after rendering. If
 * rendering fails, the flash remains, so the user can still see it later.
 */
async function renderPage(page: AnyPage, { visit, request }: PageInput): Promise<PageResponse> {
  const pageRequest = parsePageRequest(page, { visit, request });
  const flash = request.method === 'GET' ? findFlash(request) : undefined;
  if (visit.user === undefined || flash === undefined) return page.show(pageRequest);
  const response = await page.show({ ...pageRequest, visit: { ...visit, flash: flash.value } as UserContext });
  const { session } = visit.user;
  if (!(await tryConsumeFlash(visit.accounts, request, { session, flash }))) return page.show(pageRequest);
  return { ...response, confirmation: flash.confirmation };
}

function getPath({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}

function markBodyRead(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.isBodyRead = true;
  done();
}

function assertNoFile({ headers }: FastifyRequest): void {
  // The check ignores case, because the multipart parser also ignores case.
  if (/^\s*multipart\//i.test(headers['content-type'] ?? '')) throw unsupportedFormError();
}

/**
 * Creates the context of a request.
 * @throws ApiError NOT_FOUND if the developer area isn't available at the requested host
 */
async function createRequestContext(
  request: FastifyRequest,
  reply: FastifyReply,
  options: AreaOptions,
): Promise<RequestContext> {
  const { accounts, services, settings } = options;
  const site = findSite(request, settings.PUBLIC_URL);
  if (site === undefined) {
    throw new ApiError(
      'NOT_FOUND',
      'The developer area is not available at this address. On the machine of the server, open it at ' +
        'http://localhost with its port. Otherwise, ask the operator to set PUBLIC_URL.',
    );
  }
  const from = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' };
  const session = await findCurrentSession(accounts, request);
  const visit: RequestContext = {
    from,
    site,
    isLocal: isLocalRequest(request.raw, settings),
    csrf: reply.generateCsrf(),
    browser: createBrowserCookies(accounts, request, from),
    accounts,
  };
  if (session === undefined) return visit;
  const { account } = session;
  const user: SignedIn = { session, account };
  const context = { ...services, db: options.dataOf(account.tenantId), userId: account.userId, from: () => from };
  return {
    ...{ ...visit, user, context, flash: undefined, time: createTimeFormatter(account.timeZone) },
    startDownload() {
      onceClosed({ request, reply }, options.transfers.acquire(account.tenantId, 'downloads'));
      allowSlowDownload(reply.raw, settings.DOWNLOAD_IDLE_SECONDS * 1000);
    },
    runLimited: (work) => options.tenantLimiter.run(account.tenantId, work),
    async reloadUser() {
      const now = await findCurrentSession(accounts, request);
      return now?.id === session.id ? { session: now, account: now.account } : undefined;
    },
  } as UserContext;
}

/** Runs work for a signed-in user within the workspace's concurrency limit. Without a session, no limit applies. */
function runLimited<Result>(visit: RequestContext, work: () => Promise<Result>): Promise<Result> {
  return visit.user === undefined ? work() : (visit as UserContext).runLimited(work);
}

/** Returns the URL of the sign-in page. After the sign-in, the browser opens the requested page. */
function getSignInUrl(url: string): string {
  return url === overviewPath ? '/developer/sign-in' : `/developer/sign-in?next=${encodeURIComponent(url)}`;
}

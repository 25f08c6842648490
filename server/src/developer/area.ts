import csrfProtection from '@fastify/csrf-protection';
import formBody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import { requestLimits } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { type Services, transaction } from '../context.ts';
import type { Databases } from '../database/databases.ts';
import { tenantClient } from '../database/tenant-client.ts';
import type { Settings } from '../env.ts';
import { codeOf } from '../error-code.ts';
import { ApiError } from '../errors.ts';
import type { FairUse } from '../fair-use.ts';
import { apiErrorOf, type ErrorSources } from '../http/error-handler.ts';
import type { Origin } from '../identity/sessions.ts';
import { recordAudit } from '../resources/audit/queries.ts';
import { detailsOf, unknownField, validationError } from '../validation.ts';
import { elsewhere, isFromSite, siteOf } from './address.ts';
import { addCookies, flashFor, keepFlash, memoryOf, sessionOf } from './browser-memory.ts';
import { html } from './html.ts';
import { layOut, mayAsk } from './layout.ts';
import type { Answer, AnyForm, AnyPage, Asked, Sent } from './page.ts';
import { pages } from './pages.ts';
import { addStaticFiles } from './static-files.ts';
import { timeIn } from './time.ts';
import type { SignedIn, UserVisit, Visit } from './visit.ts';

export interface AreaOptions extends ErrorSources {
  databases: Databases;
  services: Services;
  settings: Pick<Settings, 'PUBLIC_URL' | 'TRUST_PROXY'>;
  fairUse: FairUse;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends a form. */
    visit: Visit | undefined;
    /** Whether all of it has come in. */
    isRead: boolean;
  }
}

/** What an import may send. Bytes. */
const uploadBytes = 10 * 2 ** 20;

/**
 * The developer area (docs/decisions/developer-area.md): every page of `pages.ts` is served here, so what holds for all of
 * them is written once. Who isn't signed in is led to signing in; what isn't there, or is another workspace's, is 404 in the
 * same bytes.
 */
export async function addDeveloperArea(app: FastifyInstance, options: AreaOptions): Promise<void> {
  const { services, settings } = options;
  await addStaticFiles(app);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    await scope.register(formBody, { bodyLimit: requestLimits.bodyBytes });
    await scope.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: { fileSize: uploadBytes, files: 1, fields: 50, parts: 51, headerPairs: 20 },
    });
    const secure = settings.PUBLIC_URL?.startsWith('https:') ?? false;
    await addCookies(scope, { keys: services.secretCipher.deriveKeys('itsm developer area cookies'), secure });
    await scope.register(csrfProtection, { sessionPlugin: '@fastify/secure-session' });
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.headers(pageHeaders);
      done();
    });
    scope.decorateRequest('visit');
    scope.decorateRequest('isRead', false);
    scope.setErrorHandler((thrown, request, reply) => answerError(thrown, { request, reply, options }));
    for (const page of pages) addPage(scope, page, options);
    scope.get('/developer', (_request, reply) => reply.redirect('/developer/keys', 303));
    scope.get('/developer/*', async () => {
      throw new ApiError('NOT_FOUND', 'There is no such page.');
    });
  });
}

/** Nothing but what this host sends, and nothing inline; forms are sent to this host alone, and nobody frames it. */
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
  // With `no-referrer` browsers send forms with `Origin: null`.
  'referrer-policy': 'same-origin',
};

function addPage(scope: FastifyInstance, page: AnyPage, options: AreaOptions): void {
  scope.get(page.path, async (request, reply) => {
    const to = elsewhere(request, options.settings.PUBLIC_URL);
    if (to !== undefined) return reply.redirect(to, 303);
    const visit = await visitOf(request, reply, options);
    if (page.roles !== 'everyone' && visit.user === undefined) return reply.redirect(signInFor(request.url), 303);
    const answer = await inItsTurn(visit, options, async () => {
      assertRole(page.roles, visit);
      return page.show(askedOf(page, { visit, request }));
    });
    return send(await finished(answer), { visit, request, reply });
  });
  if (page.forms === undefined) return;
  // Who sends it is found out before anything of it is read: nobody fills the memory with what nobody wants.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = await visitOf(request, reply, options);
    if (!isFromSite(request, visit.site)) throw forbidden('This form was sent by another site.');
    if (page.roles === 'everyone') assertNoFile(request);
    else if (visit.user === undefined) return reply.redirect(signInFor(page.path), 303);
    request.visit = visit;
  };
  const preHandler = [noteRead, scope.csrfProtection];
  scope.post(page.path, { onRequest, preHandler }, async (request, reply) => {
    const visit = request.visit as Visit;
    return inItsTurn(visit, options, () => receive(page, { visit, request, reply, options }));
  });
}

function noteRead(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  request.isRead = true;
  done();
}

function assertNoFile({ headers }: FastifyRequest): void {
  if (headers['content-type']?.startsWith('multipart/') === true) throw notAForm();
}

function notAForm(): ApiError {
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'A form of this page is sent as application/x-www-form-urlencoded.');
}

/** What is to be known of a request before anything is looked at. @throws ApiError where the area has no address */
async function visitOf(request: FastifyRequest, reply: FastifyReply, options: AreaOptions): Promise<Visit> {
  const { databases, services, settings } = options;
  const site = siteOf(request, settings.PUBLIC_URL);
  if (site === undefined) {
    throw new ApiError('NOT_FOUND', 'The developer area has no address here: set PUBLIC_URL to that of this server.');
  }
  const from = { address: request.ip, userAgent: request.headers['user-agent'] ?? '' };
  const session = await sessionOf(databases, request);
  const visit: Visit = {
    from,
    site,
    isLocal: isLoopback(from) && settings.TRUST_PROXY.length === 0,
    csrf: reply.generateCsrf(),
    browser: memoryOf(databases, request, from),
    databases,
  };
  if (session === undefined) return visit;
  const { account } = session;
  const user: SignedIn = { session, account };
  const flash = request.method === 'GET' ? await flashFor(databases, request, session) : undefined;
  const context = { ...services, db: tenantClient(databases.requests, account.tenantId), userId: account.userId };
  return { ...visit, user, context, flash, time: timeIn(account.timeZone) } as UserVisit;
}

function isLoopback({ address }: Origin): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** Has what asks for a workspace's data wait for its turn among all that does. */
function inItsTurn<Result>({ user }: Visit, { fairUse }: AreaOptions, work: () => Promise<Result>): Promise<Result> {
  return user === undefined ? work() : fairUse.run(user.account.tenantId, work);
}

function assertRole(roles: AnyPage['roles'], { user }: Visit): void {
  if (user !== undefined && !mayAsk(roles, user.account.role))
    throw forbidden('This is for administrators of the workspace.');
}

function forbidden(message: string): ApiError {
  return new ApiError('INSUFFICIENT_SCOPE', message);
}

interface Receiving {
  visit: Visit;
  request: FastifyRequest;
  reply: FastifyReply;
  options: AreaOptions;
}

/** Does what a form asks for; or shows the page again, with what was typed and what is wrong with it. */
async function receive(page: AnyPage, { visit, request, reply, options }: Receiving): Promise<FastifyReply> {
  const name = String((request.query as Record<string, unknown>).form ?? '');
  const form = page.forms !== undefined && Object.hasOwn(page.forms, name) ? page.forms[name] : undefined;
  if (form === undefined) throw new ApiError('NOT_FOUND', 'There is no such form.');
  assertRole(form.roles ?? page.roles, visit);
  const asked = askedOf(page, { visit, request });
  const { _csrf, ...values } = (request.body ?? {}) as Record<string, unknown>;
  try {
    const done = await run(form, { ...asked, fields: parsed(form.fields, values, unknownField) });
    if ('found' in done) return await again({ values: typed(values), errors: {}, found: done.found }, 200);
    const { redirect, flash } = done;
    const session = visit.user?.session;
    if (flash !== undefined && session !== undefined) {
      await keepFlash(options.databases, request, {
        session,
        path: redirect.split(/[?#]/)[0] ?? redirect,
        value: flash,
      });
    }
    return reply.redirect(redirect, 303);
  } catch (error) {
    const { code, details = [], message, status } = apiErrorOf(error, request, options);
    if (status >= 500 || code === 'NOT_FOUND') throw error;
    const errors = Object.fromEntries(details.map((detail) => [detail.path.split('.')[0], detail.message]).reverse());
    return await again({ values: typed(values), errors, labels: new Map(), message }, status);
  }

  async function again(sent: Sent, status: number): Promise<FastifyReply> {
    return send(await page.show({ ...asked, sent: { [name]: sent } }), { visit, request, reply: reply.code(status) });
  }
}

/** Runs a form with its entry in the audit log: both are committed, or neither. */
async function run(form: AnyForm, asked: Asked<Visit> & { fields: unknown }): ReturnType<AnyForm['run']> {
  const { visit } = asked;
  if (!('context' in visit)) return form.run(asked);
  const signedIn = visit as UserVisit;
  return await transaction(signedIn.context, async (context) => {
    const done = await form.run({ ...asked, visit: { ...signedIn, context } });
    if (form.audit !== null && !('found' in done)) {
      await recordAudit(context, { action: form.audit, subject: done.subject ?? null, ...visit.from });
    }
    return done;
  });
}

function askedOf(page: AnyPage, { visit, request }: { visit: Visit; request: FastifyRequest }): Asked<Visit> {
  const { form, ...query } = request.query as Record<string, unknown>;
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, String(each)]),
    ),
  );
  const path = request.url.split('?')[0];
  return {
    visit,
    params: page.params === undefined ? {} : pathParameters(page.params, request.params),
    query: page.query === undefined ? {} : parsed(page.query, query, 'is not a part of this address'),
    address: search.size === 0 ? `${path}` : `${path}?${search}`,
    sent: {},
  };
}

/** What a path can't name isn't there. */
function pathParameters(schema: NonNullable<AnyPage['params']>, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (!result.success) throw new ApiError('NOT_FOUND', 'There is no such page.');
  return result.data;
}

function parsed(schema: AnyForm['fields'], value: unknown, unknownName: string): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw validationError(detailsOf(result.error.issues, unknownName));
  return result.data;
}

/** What was typed, to be shown again: texts alone, and no password. */
function typed(values: Record<string, unknown>): Sent['values'] {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    [value].flat().filter((each) => typeof each === 'string'),
  ]);
  return Object.fromEntries(texts);
}

/** Leads to signing in, and from there to where somebody wanted to go. */
function signInFor(url: string): string {
  return url === '/developer/keys' ? '/developer/sign-in' : `/developer/sign-in?next=${encodeURIComponent(url)}`;
}

async function finished(answer: Answer): Promise<Answer> {
  if (!('file' in answer) || typeof answer.file.content !== 'function') return answer;
  return { file: { ...answer.file, content: await answer.file.content() } };
}

interface Sending {
  visit?: Visit | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

function send(answer: Answer, { visit, request, reply }: Sending): FastifyReply {
  if ('redirect' in answer) return reply.redirect(answer.redirect, 303);
  if ('file' in answer) {
    const { name, type, content } = answer.file;
    if (name !== undefined) reply.header('content-disposition', attachment(name));
    return reply.type(type).send(content);
  }
  const path = request.url.split('?')[0] ?? '';
  return reply.type('text/html; charset=utf-8').send(layOut({ ...answer, pages, path, user: visit?.user }));
}

/** A file name as a header may hold it (RFC 6266, RFC 8187). */
function attachment(name: string): string {
  return `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, escape)}`;
}

interface Failing {
  request: FastifyRequest;
  reply: FastifyReply;
  options: AreaOptions;
}

/** What went wrong, as a page. The one for what isn't there says nothing of who asks, or what for. */
function answerError(thrown: unknown, { request, reply, options }: Failing): FastifyReply {
  const { status, message, retryAfterSeconds } = refusalOf(thrown, request) ?? apiErrorOf(thrown, request, options);
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  const title = titles[status] ?? (status >= 500 ? 'Something failed on our side' : 'This was not understood');
  const body = html`<p>${message}</p><p><a class="button plain" href="/developer">To the developer area</a></p>`;
  return send({ title, body }, { request, reply: reply.code(status) });
}

/** What is wrong with a form before its fields are looked at: undefined where it is something else. */
function refusalOf(thrown: unknown, request: FastifyRequest): ApiError | undefined {
  const code = codeOf(thrown) ?? '';
  if (code.startsWith('FST_CSRF_')) {
    return forbidden('The page was open for too long. Load it again, and send the form once more.');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notAForm();
  if (uploadLimits.includes(code)) {
    return new ApiError(
      'PAYLOAD_TOO_LARGE',
      `A form may hold one file of at most ${uploadBytes} bytes, and 50 fields.`,
    );
  }
  // The parser of forms with files throws errors of no kind.
  const isBroken = request.visit !== undefined && request.isMultipart() && !request.isRead;
  return isBroken
    ? new ApiError('VALIDATION_ERROR', 'The form is not whole, or not in the form that it says.')
    : undefined;
}

const uploadLimits = ['FST_REQ_FILE_TOO_LARGE', 'FST_FILES_LIMIT', 'FST_PARTS_LIMIT', 'FST_FIELDS_LIMIT'];

const titles: Record<number, string> = {
  403: 'Not allowed',
  404: 'Nothing is here',
  413: 'Too large',
  429: 'Too many requests',
};

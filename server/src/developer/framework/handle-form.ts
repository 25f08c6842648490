import type { FastifyRequest } from 'fastify';
import { workspaceOf } from '../../auth/accounts/account.ts';
import { lockSession } from '../../auth/accounts/sessions.ts';
import { apiErrorOf, type ErrorSources } from '../../http/error-handler.ts';
import { recordAudit } from '../../resources/audit/audit-entry.ts';
import { transaction } from '../../resources/shared/context.ts';
import { ApiError } from '../../shared/errors.ts';
import { storeFlash } from './cookies.ts';
import type { AnyForm, AnyPage, FormState, PageRequest, PageResponse } from './page.ts';
import { parseFields, parsePageRequest } from './parse-request.ts';
import type { RequestContext, UserContext } from './request-context.ts';

export interface Submission {
  visit: RequestContext;
  request: FastifyRequest;
  errors: ErrorSources;
}

/** The response to a submitted form: a redirect, or the page with the errors. */
export interface ReceivedForm {
  response: PageResponse;
  status: number;
  retryAfterSeconds?: number | undefined;
}

/**
 * Returns the form that the query parameter `form` specifies.
 * @throws ApiError NOT_FOUND if the page has no such form
 */
export function findForm(page: AnyPage, request: FastifyRequest): { name: string; form: AnyForm } {
  const name = String((request.query as Record<string, unknown>).form ?? '');
  const form = page.forms !== undefined && Object.hasOwn(page.forms, name) ? page.forms[name] : undefined;
  if (form === undefined) throw new ApiError('NOT_FOUND', 'This form does not exist. Reload the page and try again.');
  return { name, form };
}

/**
 * Runs `store` of a form, and returns its result. Returns undefined if the form has no `store`, or if the session ended
 * during the upload.
 */
export async function storeFormFile(page: AnyPage, { visit, request }: Submission): Promise<unknown> {
  const { form } = findForm(page, request);
  if (form.store === undefined || (await (visit as UserContext).reloadUser()) === undefined) return undefined;
  const pageRequest = parsePageRequest(page, { visit, request });
  return form.store({ ...pageRequest, fields: parseFields(form, visit, getValues(request)) });
}

/**
 * Validates the fields of a form and runs the form. If an error occurs, renders the page again with the typed values
 * and the errors.
 * @param stored the result of `storeFormFile`
 */
export async function handleForm(page: AnyPage, submission: Submission, stored?: unknown): Promise<ReceivedForm> {
  const { visit, request } = submission;
  const { form } = findForm(page, request);
  const pageRequest = parsePageRequest(page, { visit, request });
  const values = getValues(request);
  try {
    const fields = parseFields(form, visit, values);
    const done = await runWithAudit(form, { ...pageRequest, fields }, stored);
    if ('found' in done) {
      const sent = { values: getTextValues(values), errors: {}, found: done.found };
      return { response: await renderAgain(page, submission, sent), status: 200 };
    }
    const { redirect, flash, subject, confirmation } = done;
    const session = visit.user?.session;
    if (form.audit !== null && session !== undefined) {
      await storeFlash(visit.accounts, request, {
        session,
        path: redirect.split(/[?#]/)[0] ?? redirect,
        value: flash,
        // If the form has a flash, stores no confirmation, because the page shows the flash instead.
        confirmation: flash === undefined ? (confirmation ?? toConfirmation(form.audit, subject)) : undefined,
      });
    }
    return { response: { redirect }, status: 303 };
  } catch (error) {
    return await renderRejectedForm(page, submission, error);
  }
}

/** Converts an audit action to a confirmation message, such as `Key changed: nightly export`. */
function toConfirmation(action: string, subject: string | null | undefined): string {
  const [first = '', ...rest] = action.replaceAll('.', ' ');
  return `${first.toUpperCase()}${rest.join('')}${subject == null ? '' : `: ${subject}`}`;
}

/**
 * Renders the page with the typed values and the errors.
 * @throws the error in `thrown` if the user can't correct it
 */
export async function renderRejectedForm(
  page: AnyPage,
  submission: Submission,
  thrown: unknown,
): Promise<ReceivedForm> {
  const { request, errors: sources } = submission;
  const { code, details = [], message, status, retryAfterSeconds } = apiErrorOf(thrown, request, sources);
  if ((status >= 500 && retryAfterSeconds === undefined) || code === 'NOT_FOUND') throw thrown;
  const values = getTextValues(getValues(request));
  const errors = Object.fromEntries(
    details
      .map(({ path, message }) => {
        const [field, ...rest] = path.split('.');
        if (path in values) return [path, message];
        // A field of the form can contain several values with names, such as custom fields.
        return [field, [...rest.filter((part) => !/^\d+$/.test(part)), message].join(' ')];
      })
      .reverse(),
  );
  const sent = { values, errors, labels: new Map(), message };
  return { response: await renderAgain(page, submission, sent), status, retryAfterSeconds };
}

function renderAgain(page: AnyPage, { visit, request }: Submission, sent: FormState): Promise<PageResponse> {
  const { name } = findForm(page, request);
  return page.show({ ...parsePageRequest(page, { visit, request }), sent: { [name]: sent } });
}

/** Returns the submitted fields without the CSRF token. */
function getValues({ body }: FastifyRequest): Record<string, unknown> {
  const { _csrf, ...values } = (body ?? {}) as Record<string, unknown>;
  return values;
}

const toSignIn = { redirect: '/developer/sign-in' };

/**
 * Runs a form. If the form returns a target, writes an audit entry in the same transaction. Otherwise, the functions
 * that the form calls write the entry.
 */
async function runWithAudit(
  form: AnyForm,
  pageRequest: PageRequest<RequestContext> & { fields: unknown },
  stored: unknown,
): ReturnType<AnyForm['run']> {
  const { visit } = pageRequest;
  const { audit: action } = form;
  const checked = stored ?? (await form.check?.(pageRequest));
  // Sign-in forms write their own audit entry, because the browser may be signed in with another account.
  if (action === null || !('context' in visit)) return form.run({ ...pageRequest, checked });
  const signedIn = visit as UserContext;
  const { accounts, user, context: ofRequest } = signedIn;
  // `form.check` can take minutes, for example to store a file. Maintenance may have begun in the meantime.
  if (form.check !== undefined && (await signedIn.reloadUser()) === undefined) return toSignIn;
  const db = form.ofAccount === true ? workspaceOf(accounts, user.account) : ofRequest.db;
  return await transaction({ ...ofRequest, db }, async (context) => {
    // Checks the session again, because it may have ended while `form.check` ran.
    if (form.ofAccount === true && !(await lockSession(accounts, user.session))) return toSignIn;
    const done = await form.run({ ...pageRequest, checked, visit: { ...signedIn, context } });
    if ('target' in done && done.target !== undefined) {
      await recordAudit(context, { action, target: done.target, changes: done.changes });
    }
    return done;
  });
}

/**
 * Returns the typed text values, so that the page can show them again. Omits files, but not passwords, because
 * `textField` never renders passwords.
 */
function getTextValues(values: Record<string, unknown>): FormState['values'] {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    [value].flat().filter((each) => typeof each === 'string'),
  ]);
  return Object.fromEntries(texts);
}

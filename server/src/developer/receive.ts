import type { FastifyRequest } from 'fastify';
import { transaction } from '../context.ts';
import { beginWriting } from '../database/lock.ts';
import { ApiError } from '../errors.ts';
import { apiErrorOf, type ErrorSources } from '../http/error-handler.ts';
import { type AccountStore, workspaceOf } from '../identity/account.ts';
import { holdSession } from '../identity/sessions.ts';
import { recordAudit } from '../resources/audit/queries.ts';
import { unknownField } from '../validation.ts';
import { askedOf, parsed } from './asked.ts';
import { keepFlash } from './browser-memory.ts';
import type { Answer, AnyForm, AnyPage, Asked, Sent } from './page.ts';
import type { UserVisit, Visit } from './visit.ts';

interface Receiving {
  visit: Visit;
  request: FastifyRequest;
  accounts: AccountStore;
  errors: ErrorSources;
}

/** What comes of a form: where it leads, or the page with what is wrong. */
interface Received {
  answer: Answer;
  status: number;
}

/** Which of the page's forms is sent. @throws ApiError NOT_FOUND */
export function formNamed(page: AnyPage, request: FastifyRequest): { name: string; form: AnyForm } {
  const name = String((request.query as Record<string, unknown>).form ?? '');
  const form = page.forms !== undefined && Object.hasOwn(page.forms, name) ? page.forms[name] : undefined;
  if (form === undefined) throw new ApiError('NOT_FOUND', 'There is no such form.');
  return { name, form };
}

/** Does what a form asks for; or shows the page again, with what was typed and what is wrong with it. */
export async function receive(page: AnyPage, { visit, request, ...sources }: Receiving): Promise<Received> {
  const { name, form } = formNamed(page, request);
  const asked = askedOf(page, { visit, request });
  const { _csrf, ...values } = (request.body ?? {}) as Record<string, unknown>;
  try {
    const done = await run(form, { ...asked, fields: parsed(form.fields, values, unknownField) });
    if ('found' in done) return await again({ values: typed(values), errors: {}, found: done.found }, 200);
    const { redirect, flash } = done;
    const session = visit.user?.session;
    if (flash !== undefined && session !== undefined) {
      await keepFlash(sources.accounts, request, {
        session,
        path: redirect.split(/[?#]/)[0] ?? redirect,
        value: flash,
      });
    }
    return { answer: { redirect }, status: 303 };
  } catch (error) {
    const { code, details = [], message, status } = apiErrorOf(error, request, sources.errors);
    if (status >= 500 || code === 'NOT_FOUND') throw error;
    const errors = Object.fromEntries(details.map((detail) => [detail.path.split('.')[0], detail.message]).reverse());
    return await again({ values: typed(values), errors, labels: new Map(), message }, status);
  }

  async function again(sent: Sent, status: number): Promise<Received> {
    return { answer: await page.show({ ...asked, sent: { [name]: sent } }), status };
  }
}

/** Runs a form with its entry in the audit log: both are committed, or neither. */
async function run(form: AnyForm, asked: Asked<Visit> & { fields: unknown }): ReturnType<AnyForm['run']> {
  const { visit } = asked;
  const { audit: action } = form;
  const checked = await form.check?.(asked);
  // Signing in is of another account than whose is signed in, if anybody is.
  if (action === null || !('context' in visit)) return form.run({ ...asked, checked });
  const signedIn = visit as UserVisit;
  const { accounts, user, context: ofRequest } = signedIn;
  const db = form.ofAccount === true ? workspaceOf(accounts, user.account) : ofRequest.db;
  return await transaction({ ...ofRequest, db }, async (context) => {
    // What is deleted doesn't ask whether the workspace is being moved.
    await beginWriting(context.db);
    // It may have been ended while what is checked was: whose it was has no say any more.
    if (form.ofAccount === true && !(await holdSession(accounts, user.session)))
      return { redirect: '/developer/sign-in' };
    const done = await form.run({ ...asked, checked, visit: { ...signedIn, context } });
    if (!('found' in done)) await recordAudit(context, { action, subject: done.subject ?? null, ...visit.from });
    return done;
  });
}

/** What was typed, to be shown again: texts alone, and no password. */
function typed(values: Record<string, unknown>): Sent['values'] {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    [value].flat().filter((each) => typeof each === 'string'),
  ]);
  return Object.fromEntries(texts);
}

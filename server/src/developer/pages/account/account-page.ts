import { integerFromText } from '@itsm-api/contract';
import * as z from 'zod';
import {
  checkPasskey,
  listPasskeys,
  registrationOptions,
  removePasskey,
  savePasskey,
} from '../../../auth/accounts/passkeys.ts';
import {
  checkPassword,
  hasPassword,
  isOwnPassword,
  NewPassword,
  savePassword,
} from '../../../auth/accounts/password-sign-in.ts';
import { endSessions, listSessions } from '../../../auth/accounts/sessions.ts';
import { TimeZone } from '../../../resources/users/time-zone.ts';
import { updateUser } from '../../../resources/users/user-management.ts';
import { ApiError } from '../../../shared/errors.ts';
import { serializeId } from '../../../shared/serialize.ts';
import { accountForm, form, type PageRequest, page } from '../../framework/page.ts';
import type { UserContext } from '../../framework/request-context.ts';
import { checkbox, emptyAsNull, renderForm, selectField, submit, textField } from '../../ui/form-fields.ts';
import { badge, html, notice, section, table } from '../../ui/html.ts';
import { toPasskeyName } from './accept-invitation.ts';

const here = '/developer/account';
const Named = z.object({ id: integerFromText() });

/** The account page of the signed-in user, with time zone, passkeys, password and sessions. */
export const account = page({
  path: here,
  roles: ['ADMIN', 'AGENT'],
  async show(request) {
    const { visit } = request;
    const { name, email, role, workspace } = visit.user.account;
    return {
      title: 'Your account',
      body: html`<p class="lead">${name} (${email}), ${role} in ${workspace}</p>
${visit.user.session.secured ? null : notice('You have no passkey or password yet. Add one before you sign out. Otherwise, you need a new invitation link to sign in.', 'warn')}
${renderForm(request, 'leave', () => submit('Sign out', 'plain'))}
${section('Time zone', zone(request))}
${section('Passkeys', await passkeys(request))}${section('Password', await password(request))}${section('Sessions', await sessions(request))}`,
    };
  },
  forms: {
    leave: accountForm({
      fields: z.object({}),
      audit: 'session.ended',
      async run({ visit }) {
        await endSessions(visit.accounts, visit.user.account, { id: visit.user.session.id });
        visit.browser.signOut();
        return { redirect: '/developer/sign-in', subject: 'own session', target: targetOf(visit) };
      },
    }),
    zone: form({
      fields: z.strictObject({ timeZone: emptyAsNull(TimeZone) }),
      audit: 'user.updated',
      async run({ visit: { context, user }, fields }) {
        const { email } = await updateUser(context, serializeId(user.account.userId), fields);
        return { redirect: here, subject: email };
      },
    }),
    passkey: accountForm({
      fields: z.object({ response: z.string().max(20_000) }),
      audit: 'passkey.added',
      async check({ visit, fields }) {
        const { consumeChallenge } = visit.browser;
        return checkPasskey(visit.site, { ...fields, consumeChallenge });
      },
      async run({ visit, checked }) {
        const name = toPasskeyName(visit);
        await savePasskey(visit.accounts, visit.user.account, { ...checked, name });
        return { redirect: here, subject: name, target: targetOf(visit) };
      },
    }),
    removePasskey: accountForm({
      fields: Named,
      audit: 'passkey.removed',
      async run({ visit, fields }) {
        const { account } = visit.user;
        const passkeys = await listPasskeys(visit.accounts, account);
        if (passkeys.length === 1 && !(await hasPassword(visit.accounts, account))) {
          throw new ApiError('VALIDATION_ERROR', 'This is your only sign-in method. Add another one first.');
        }
        const subject = await removePasskey(visit.accounts, account, fields.id);
        return { redirect: here, subject, target: targetOf(visit) };
      },
    }),
    password: accountForm({
      fields: z.object({
        current: z.string().max(1000).optional(),
        password: NewPassword,
        others: z.string().optional(),
      }),
      audit: 'password.set',
      async check({ visit, fields }) {
        const { account } = visit.user;
        if (
          (await hasPassword(visit.accounts, account)) &&
          !(await isOwnPassword(visit.accounts, account, { ...visit.from, password: fields.current ?? '' }))
        ) {
          throw new ApiError('VALIDATION_ERROR', 'The current password is incorrect. Enter it again.', {
            details: [{ path: 'current', message: 'is incorrect' }],
          });
        }
        return checkPassword(account, fields.password);
      },
      async run({ visit, fields, checked }) {
        const { account, session } = visit.user;
        await savePassword(visit.accounts, account, checked);
        if (fields.others !== undefined) await endSessions(visit.accounts, account, { butId: session.id });
        return { redirect: here, target: targetOf(visit) };
      },
    }),
    end: accountForm({
      fields: Named,
      audit: 'session.ended',
      async run({ visit, fields }) {
        const ended = await endSessions(visit.accounts, visit.user.account, fields);
        if (ended === 0) throw new ApiError('NOT_FOUND', 'Session not found. Reload the page.');
        return { redirect: here, subject: `session ${fields.id}`, target: targetOf(visit) };
      },
    }),
  },
});

function targetOf({ user }: UserContext) {
  return { type: 'user', id: user.account.userId } as const;
}

function zone(request: PageRequest<UserContext>) {
  const { timeZone } = request.visit.user.account;
  const names = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC');
  // If the account's time zone is an alias, adds it to the options, because `supportedValuesOf` doesn't list aliases.
  const own = timeZone === null || timeZone === 'UTC' || names.includes(timeZone) ? [] : [timeZone];
  const options = [...own, ...names].map((name) => ({ value: name, label: name }));
  const field = {
    name: 'timeZone',
    label: 'Time zone',
    hint: 'The developer area shows and accepts times in this time zone.',
    value: timeZone === 'UTC' ? '' : timeZone,
    options: [{ value: '', label: 'UTC' }, ...options],
  };
  return renderForm(request, 'zone', (sent) => html`${selectField(sent, field)}${submit('Save', 'plain')}`);
}

async function passkeys(request: PageRequest<UserContext>) {
  const { visit } = request;
  const options = await registrationOptions(visit.accounts, visit.site, visit.user.account);
  visit.browser.addChallenge(options.challenge);
  const rows = (await listPasskeys(visit.accounts, visit.user.account)).map(({ id, name, createdAt, lastUsedAt }) => [
    ...[name, visit.time(createdAt), visit.time(lastUsedAt)],
    renderForm(
      request,
      'removePasskey',
      () =>
        html`<input type="hidden" name="id" value="${id}"><button type="submit" class="button small" aria-label="Remove ${name}">Remove</button>`,
    ),
  ]);
  return html`${table('Your passkeys', ['Name', 'Created', 'Last used', ''], rows, 'No passkeys yet. With a passkey, you sign in by fingerprint, face or PIN.')}
${renderForm(request, 'passkey', () => submit('Add passkey', 'plain'), { passkey: { what: 'create', options } })}`;
}

async function password(request: PageRequest<UserContext>) {
  const { accounts, user } = request.visit;
  const has = await hasPassword(accounts, user.account);
  const current = {
    name: 'current',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
    required: true,
  } as const;
  const next = {
    name: 'password',
    label: 'New password',
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    hint: 'At least 12 characters.',
  } as const;
  return renderForm(
    request,
    'password',
    (sent) => html`${has ? textField(sent, current) : null}${textField(sent, next)}
${checkbox('others', 'end', 'Sign out of all other sessions', sent === undefined || 'others' in sent.values)}${submit(has ? 'Change password' : 'Set password', 'plain')}`,
  );
}

async function sessions(request: PageRequest<UserContext>) {
  const { visit } = request;
  const { account, session } = visit.user;
  const rows = (await listSessions(visit.accounts, account)).map(
    ({ id, address, userAgent, createdAt, lastSeenAt }) => [
      ...[html`<span class="agent">${userAgent}</span>`, address, visit.time(createdAt), visit.time(lastSeenAt)],
      BigInt(id) === session.id
        ? badge('current', 'good')
        : renderForm(
            request,
            'end',
            () =>
              html`<input type="hidden" name="id" value="${id}"><button type="submit" class="button small" aria-label="End the session from ${address}">End</button>`,
          ),
    ],
  );
  return table('Active sessions', ['Browser', 'IP address', 'Signed in', 'Last seen', ''], rows, 'No active sessions.');
}
